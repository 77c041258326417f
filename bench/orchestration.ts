/** What a durable problem costs: by itself, and beside `inspect_ai` with the whole product. */
import { type BenchOptions, interleaved, median } from './figure.ts';
import { type Load, sweepSeconds, withModel } from './product.ts';
import { runInspect } from './reference/inspect-ai.ts';
import type { ShapeName } from './toy-agents.ts';
import { type ToyResult, toySweep } from './toy-sweep.ts';

const HUMANEVAL_TASKS = 164;
/** On both sides. */
const REQUESTS = 20;
const PROBLEMS = 50;

export async function orchestration(options: BenchOptions): Promise<void> {
  await alone(options);
  await besideInspect(options, { samples: 1, inMemory: 1, fileBacked: 1.3 });
  await besideInspect(options, { samples: 10, inMemory: 2, fileBacked: 3 });
}

async function alone({ rounds, scale, wanted, report, note }: BenchOptions): Promise<void> {
  const figure = { reference: null, ratio: null };
  const scaled = (problems: number) => Math.max(1, Math.round(problems * scale));
  const measure = async (shape: ShapeName, problems: number) => {
    const results: ToyResult[] = [];
    for (let round = 0; round < rounds; round += 1) {
      note(`${shape}: ${problems} problems, round ${round + 1} of ${rounds}`);
      results.push(await toySweep({ shape, problems, concurrency: PROBLEMS }));
    }
    const [first] = results;
    if (first === undefined) throw new RangeError('no round');
    return { ...first, seconds: median(results.map(({ seconds }) => seconds)) };
  };

  if (wanted('zero-shot')) {
    const problems = scaled(500);
    const { events, bytes, seconds } = await measure('zero-shot', problems);
    report({
      ...figure,
      figure: 'zero-shot problem, events',
      value: events,
      unit: 'events',
      mark: { of: 'value', atMost: 20 },
    });
    report({ ...figure, figure: 'zero-shot problem, history', value: bytes / 1024, unit: 'KiB' });
    report({
      ...figure,
      figure: 'zero-shot in memory',
      value: problems / seconds,
      unit: 'problems/s',
      mark: { of: 'value', atLeast: 10 },
    });
  }
  if (wanted('quality-flow')) {
    const problems = scaled(100);
    const { events, activities, seconds } = await measure('quality-flow', problems);
    report({
      ...figure,
      figure: `quality-flow problem of ${activities} activities, events`,
      value: events,
      unit: 'events',
    });
    report({
      ...figure,
      figure: `quality-flow of ${activities} activities in memory`,
      value: problems / seconds,
      unit: 'problems/s',
      mark: { of: 'value', atLeast: 2 },
    });
  }
  if (wanted('never right')) {
    const { events, activities, bytes, seconds } = await measure('never right', 1);
    const name = `never right, ${activities} activities`;
    report({ ...figure, figure: `${name}, events`, value: events, unit: 'events' });
    report({ ...figure, figure: `${name}, history`, value: bytes / 1024, unit: 'KiB' });
    report({ ...figure, figure: `${name}, wall`, value: seconds, unit: 's' });
  }
}

/** Whole commands on the same samples, model and number of requests at once, each with its real sandbox. */
async function besideInspect(
  { rounds, scale, wanted, report, note }: BenchOptions,
  { samples, inMemory, fileBacked }: { samples: number; inMemory: number; fileBacked: number },
): Promise<void> {
  const load: Load = {
    tasks: Math.max(1, Math.round(HUMANEVAL_TASKS * scale)),
    samples,
    requests: REQUESTS,
    problems: PROBLEMS,
  };
  const name = `humaneval, ${load.tasks * samples} samples`;
  const figures = [
    { figure: `${name}, in memory`, storage: 'memory', mark: { of: 'ratio', atMost: inMemory } },
    { figure: `${name}, file-backed`, storage: 'file', mark: { of: 'ratio', atMost: fileBacked } },
  ] as const;
  const asked = figures.filter(({ figure }) => wanted(figure));
  if (asked.length === 0) return;
  const timed = (who: string, work: () => Promise<number>) => async () => {
    const seconds = await work();
    note(`${name}: ${who} ${seconds.toFixed(1)} s`);
    return seconds;
  };
  await withModel(0, async (model) => {
    const medianOf = await interleaved(rounds, {
      inspect_ai: timed('inspect_ai', async () => (await runInspect({ load, model, note })).seconds),
      ...Object.fromEntries(
        asked.map(({ storage }) => [storage, timed(storage, () => sweepSeconds(storage, load, model))]),
      ),
    });
    const reference = medianOf('inspect_ai');
    for (const { figure, storage, mark } of asked) {
      const value = medianOf(storage);
      report({ figure, value, unit: 's', reference, ratio: value / reference, mark });
    }
  });
}
