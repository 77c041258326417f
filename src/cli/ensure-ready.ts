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
  const failed = report.steps.filter(({ state }) => state === 'failed' || state === 'skipped');
  const [first] = failed;
  if (first === undefined) return;
  throw new UserError({
    message: `Set-up is not complete: ${first.name}: ${first.did}`,
    details: failed.slice(1).map(({ name, did }) => `${name}: ${did}`),
    remedy: first.remedy ?? 'Run `qualityflow setup` for the details',
    exitCode: 3,
  });
}
