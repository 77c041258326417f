import { createLogUpdate } from 'log-update';
import type { ResultLine } from '../evaluation/result-line.ts';
import { bar } from '../reports/terminal.ts';
import { terminalLine } from '../reports/terminal-safe.ts';
import { type Context, note } from './context.ts';
import { duration } from './progress.ts';

const REDRAW_MS = 200;
/** A plain log gets a line now and then. */
const PLAIN_MS = 10_000;
const BAR_WIDTH = 30;

/** Progress on stderr: one line that is rewritten on a terminal, a line now and then elsewhere. `show` takes what is new, the first time what was there. */
export function evaluationProgress(
  context: Context,
  { name, planned }: { name: string; planned: number },
): { show(lines: readonly ResultLine[]): void; end(): void } {
  const { stderr } = context;
  const verdicts = new Map<string, number>();
  const startedAt = performance.now();
  let done = 0;
  let doneBefore: number | undefined;
  const text = (): string => {
    const elapsedMs = performance.now() - startedAt;
    const fresh = done - (doneBefore ?? 0);
    const left = fresh >= 3 && done < planned ? `, about ${duration((elapsedMs / fresh) * (planned - done))} left` : '';
    const counts = [...verdicts].map(([verdict, count]) => `${verdict} ${count}`).join(' · ');
    const picture = stderr.isTTY === true ? `${bar({ share: done / planned, width: BAR_WIDTH })}  ` : '';
    return terminalLine(`${name}  ${picture}${done}/${planned}  ${counts}  ${duration(elapsedMs)}${left}`).slice(
      0,
      Math.max(20, (stderr.columns || 160) - 1),
    );
  };
  const update =
    stderr.isTTY === true && stderr.columns !== 0 ? createLogUpdate(stderr, { showCursor: true }) : undefined;
  const draw = () => (update === undefined ? note(context, text()) : update(text()));
  // One slow program must not look like the end of all.
  const timer = setInterval(draw, update === undefined ? PLAIN_MS : REDRAW_MS);
  timer.unref();
  return {
    show(lines) {
      done += lines.length;
      doneBefore ??= done;
      for (const { verdict } of lines) verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
    },
    end() {
      clearInterval(timer);
      if (update === undefined) return;
      draw();
      update.done();
    },
  };
}
