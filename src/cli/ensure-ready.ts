import { runSetup } from '../setup/run-setup.ts';
import { type Context, note } from './context.ts';
import { UserError } from './user-error.ts';

/** Does what set-up would do, silent when there is nothing to do. Throws when something that a sweep needs is missing. */
export async function ensureReady({
  context,
  env,
  yes = false,
}: {
  context: Context;
  env: Context['env'];
  yes?: boolean;
}): Promise<void> {
  const report = await runSetup({
    home: context.home,
    yes: yes || env.CI === 'true',
    env,
    // Work under way is indented; a step's result is told below, if it matters.
    log: (line) => {
      if (line.startsWith(' ')) note(context, line.trimStart());
    },
  });
  // What was skipped only waits for what failed.
  const [first] = report.steps.filter(({ state }) => state === 'failed');
  if (first === undefined) return;
  throw new UserError({
    message: `${first.did.charAt(0).toUpperCase()}${first.did.slice(1)}`,
    remedy: first.remedy ?? 'Run `qualityflow setup` for the details',
    exitCode: 3,
  });
}
