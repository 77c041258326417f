// `npm run chaos -- --scenario outage|rate-limit|late`: instead, one trouble of an endpoint for a minute and how soon throughput is back, or one kill of
// the worker and how late its problems are; always as a line of JSON.
// `npm run chaos -- [--rounds N] [--seed S] [--victims worker,cli] [--json]`: kills what runs, again and again, and compares the ends. The findings
// and the progress go to standard error; the last line of standard output is the sum, as JSON with `--json`. Status 1 when anything was wrong.
import { parseArgs } from 'node:util';
import { runSetup } from '../src/setup/run-setup.ts';
import { projectHome } from '../src/temporal/embedded/home.ts';
import { VICTIMS } from '../test/chaos/rig.ts';
import { held, runChaos } from '../test/chaos/run-chaos.ts';
import { playScenario, SCENARIOS } from '../test/chaos/scenarios.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '8' },
    seed: { type: 'string', default: '1' },
    victims: { type: 'string', default: VICTIMS.join(',') },
    scenario: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
const seed = Number(values.seed);
const victims = values.victims.split(',');
const unknown = victims.filter((name) => !VICTIMS.includes(name));
if (!Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(seed) || unknown.length > 0) {
  console.error(`Give whole numbers for --rounds and --seed, and for --victims some of ${VICTIMS.join(', ')}.`);
  process.exit(2);
}
if (values.scenario !== undefined && !SCENARIOS.includes(values.scenario)) {
  console.error(`There is no scenario ${values.scenario}. Give one of ${SCENARIOS.join(', ')}.`);
  process.exit(2);
}

const note = (line) => console.error(line);
const setup = await runSetup({ home: projectHome(process.env), yes: process.env.CI === 'true', log: note });
if (!setup.ok) process.exit(3);
if (values.scenario !== undefined) {
  const measured = await playScenario(values.scenario, note);
  console.log(JSON.stringify(measured));
  process.exit(measured.held ? 0 : 1);
}

note(
  'dockerd itself is not killed: it is cut off behind a socket, as only one that set-up started may ever be killed.',
);
const result = await runChaos({ rounds, seed, victims, note });
console.log(
  values.json
    ? JSON.stringify(result)
    : `${result.rounds} rounds, ${result.kills} kills: ${held(result) ? 'everything held' : JSON.stringify(result)}`,
);
process.exit(held(result) ? 0 : 1);
