import { terminalLine } from '../reports/terminal-safe.ts';
import { runDoctor } from '../setup/doctor.ts';
import { type Context, paint, print, printJson } from './context.ts';
import type { ExitCode } from './user-error.ts';

const MARKS = { ok: ['green', 'ok  '], warn: ['yellow', 'warn'], fail: ['red', 'FAIL'] } as const;

/** `doctor`: exit 3 when something that a sweep needs is missing. */
export async function doctorCommand({ context, json }: { context: Context; json?: boolean }): Promise<ExitCode> {
  const checks = await runDoctor({ home: context.home, env: context.env });
  const ok = checks.every(({ state }) => state !== 'fail');
  if (json === true) {
    printJson(context, { ok, checks });
    return ok ? 0 : 3;
  }
  const width = Math.max(...checks.map(({ name }) => name.length));
  for (const { name, state, detail, remedy } of checks) {
    const [style, mark] = MARKS[state];
    print(context, `${paint(context.stdout, style, mark)}  ${name.padEnd(width)}  ${terminalLine(detail)}`);
    if (remedy !== undefined && state !== 'ok') print(context, `${' '.repeat(width + 8)}${terminalLine(remedy)}`);
  }
  return ok ? 0 : 3;
}
