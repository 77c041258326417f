// `npm run attacks -- [--class pipe,hunting] [--json]`: programs that want a pass without doing their task, or to harm the grader. Findings go to
// standard error; the last line of standard output is the sum, as JSON with `--json`. Status 1 when anything succeeded.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { connectDocker } from '../src/sandbox/docker-engine.ts';
import { createDockerSandbox } from '../src/sandbox/docker-sandbox.ts';
import { ensureSandboxImage } from '../src/sandbox/image.ts';
import { runSetup } from '../src/setup/run-setup.ts';
import { projectHome } from '../src/temporal/embedded/home.ts';
import { ATTACKS } from '../test/attacks/programs/index.ts';
import { held, runAttacks } from '../test/attacks/run-attacks.ts';

const { values } = parseArgs({
  options: {
    class: { type: 'string', default: Object.keys(ATTACKS).join(',') },
    json: { type: 'boolean', default: false },
  },
});
const classes = values.class.split(',');
const unknown = classes.filter((name) => !Object.hasOwn(ATTACKS, name));
if (unknown.length > 0) {
  console.error(`There is no class ${unknown.join(', ')}: give some of ${Object.keys(ATTACKS).join(', ')}.`);
  process.exit(2);
}

const note = (line) => console.error(line);
const home = projectHome(process.env);
const setup = await runSetup({ home, yes: process.env.CI === 'true', log: note });
if (!setup.ok) process.exit(3);
const docker = connectDocker({ env: process.env });
const { imageId } = await ensureSandboxImage({ docker, home, log: note });
const lanes = await Promise.all(
  Array.from({ length: availableParallelism() }, () => createDockerSandbox({ docker, imageId, slots: 1 })),
);
const result = await runAttacks({
  lanes,
  attacks: Object.fromEntries(classes.map((name) => [name, ATTACKS[name]])),
  note,
});
await Promise.all(lanes.map((lane) => lane.close()));
console.log(
  values.json
    ? JSON.stringify(result)
    : `${result.programs} hostile programs: ${held(result) ? 'none achieved anything' : JSON.stringify(result)}`,
);
process.exit(held(result) ? 0 : 1);
