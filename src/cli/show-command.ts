import { canonicalTaskId } from '../problems/task-id.ts';
import { renderProblem } from '../reports/render-story.ts';
import { buildProblemStory } from '../reports/story.ts';
import { counted } from '../reports/terminal.ts';
import { type Context, print, printJson, renderOptions } from './context.ts';
import { withSweep } from './open-state.ts';
import { sampleOf } from './sample-flag.ts';
import { type ExitCode, UserError } from './user-error.ts';

/** `show`: one run of one task, every step of it; on a terminal a long one in short, unless `steps` asks for all. */
export function showCommand(input: {
  context: Context;
  name: string;
  task: string | undefined;
  sample: string;
  steps?: boolean;
  full?: boolean;
  json?: boolean;
}): Promise<ExitCode> {
  const { context, name, task } = input;
  return withSweep<ExitCode>(context, name, async (store, sweep) => {
    if (task === undefined) {
      throw new UserError({
        message: `Which of the ${counted(sweep.tasks.length, 'task')} of ${name} is to be shown was not said`,
        remedy: `Name it after the sweep; \`qualityflow report ${name} --tasks\` lists them with their outcomes`,
        exitCode: 2,
      });
    }
    const taskId = canonicalTaskId({ name: `The sweep ${name}`, taskIds: sweep.tasks }, task);
    const sample = sampleOf(input.sample, sweep.spec.samples);
    const story = await buildProblemStory({ store, sweep: name, taskId, sample });
    if (input.json === true) printJson(context, story);
    else {
      const brief = context.stdout.isTTY === true && input.steps !== true;
      print(context, renderProblem(story, { ...renderOptions(context), full: input.full === true, brief }));
    }
    return 0;
  });
}
