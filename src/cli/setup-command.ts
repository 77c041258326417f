import { runSetup } from '../setup/run-setup.ts';
import { compileAhead } from './compile-ahead.ts';
import { type Context, note, print, printJson } from './context.ts';
import type { ExitCode } from './user-error.ts';

/** `setup`: exit 3 when a step failed; a second run does nothing. */
export async function setupCommand({
  context,
  yes,
  json,
}: {
  context: Context;
  yes?: boolean;
  json?: boolean;
}): Promise<ExitCode> {
  const report = await runSetup({
    home: context.home,
    yes: yes === true || context.env.CI === 'true',
    env: context.env,
    log: (line) => note(context, line),
  });
  if (report.steps.some(({ state }) => state === 'done')) await compileAhead(context.home);
  if (json === true) printJson(context, report);
  else print(context, report.ok ? 'Ready. `qualityflow demo` shows it at work.' : 'Not ready: see the steps above.');
  return report.ok ? 0 : 3;
}
