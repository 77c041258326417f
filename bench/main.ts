/**
 * `npm run bench -- orchestration|latency|sandbox|matrix|determinism|selection [--json] [--rounds N] [--only TEXT] [--scale SHARE] [--tasks N]`: one line a figure on standard output, JSON or for
 * people; progress on standard error. Status 1 when a figure misses its mark, 3 when the surroundings are not there.
 */
import { parseArgs } from 'node:util';
import { runSetup } from '../src/setup/run-setup.ts';
import { projectHome } from '../src/temporal/embedded/home.ts';
import { determinism } from './determinism.ts';
import { type BenchOptions, type Figure, figureLine, figureRow, kept } from './figure.ts';
import { latency } from './latency.ts';
import { matrix } from './matrix.ts';
import { orchestration } from './orchestration.ts';
import { sandbox } from './sandbox.ts';
import { selection } from './selection.ts';

const BENCHES: Record<string, (options: BenchOptions) => Promise<void>> = {
  orchestration,
  latency,
  sandbox,
  determinism,
  matrix,
  selection,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    /** Measurements of each figure; the median counts. */
    rounds: { type: 'string', default: '3' },
    /** Only figures whose name holds this. */
    only: { type: 'string', default: '' },
    /** Share of the samples: for trying the bench, not for figures to publish. */
    scale: { type: 'string', default: '1' },
    /** Tasks of `matrix`: 164 are all. */
    tasks: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const scale = Number(values.scale);
const tasks = values.tasks === undefined ? undefined : Number(values.tasks);
const [name = ''] = positionals;
const bench = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined;
if (
  bench === undefined ||
  positionals.length > 1 ||
  !Number.isInteger(rounds) ||
  rounds < 1 ||
  !(scale > 0 && scale <= 1) ||
  (tasks !== undefined && !(Number.isInteger(tasks) && tasks > 0))
) {
  console.error(
    `Name one of ${Object.keys(BENCHES).join(', ')}; --rounds and --tasks take a whole number from 1, --scale a number up to 1.`,
  );
  process.exit(2);
}

const note = (line: string) => console.error(line);
const setup = await runSetup({ home: projectHome(process.env), yes: process.env.CI === 'true', log: note });
if (!setup.ok) process.exit(3);

const figures: Figure[] = [];
await bench({
  rounds,
  scale,
  tasks,
  note,
  wanted: (figure) => figure.includes(values.only),
  report(found) {
    const figure: Figure = { bench: name, ...found };
    if (!figure.figure.includes(values.only)) return;
    figures.push(figure);
    console.log(values.json ? figureLine(figure) : figureRow(figure));
  },
});
if (figures.length === 0) {
  console.error(`No figure of ${name} holds ${JSON.stringify(values.only)} in its name.`);
  process.exit(2);
}
process.exit(figures.some((figure) => kept(figure) === false) ? 1 : 0);
