// `npm run chaos -- [--scenario kill|suspend] [--rounds N] [--seed S] [--victims worker,cli] [--strategies select] [--stop-seconds 120] [--json]`: kills what runs, again and
// again, or stops it for two minutes, and compares the ends. The findings and the progress go to standard error; the last line of standard output
// is the sum, as JSON with `--json`. Status 1 when anything was wrong.
// `npm run chaos -- --scenario outage|rate-limit|late`: one trouble of an endpoint for a minute and how soon throughput is back, or one kill of the
// worker and how late its problems are; a line of JSON.
import { parseArgs } from 'node:util';
import { runSetup } from '../src/setup/run-setup.ts';
import { projectHome } from '../src/temporal/embedded/home.ts';
import { STRATEGIES } from '../test/chaos/mini-sweep.ts';
import { daemonToKill } from '../test/chaos/own-daemon.ts';
import { STOPPED, VICTIMS } from '../test/chaos/rig.ts';
import { held, runChaos } from '../test/chaos/run-chaos.ts';
import { playScenario, SCENARIOS as TIMED } from '../test/chaos/scenarios.ts';

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', default: 'kill' },
    rounds: { type: 'string' },
    seed: { type: 'string', default: '1' },
    victims: { type: 'string' },
    strategies: { type: 'string' },
    'stop-seconds': { type: 'string', default: '120' },
    json: { type: 'boolean', default: false },
  },
});
/** What goes down by default, and in how many rounds. */
const ROUNDS = { kill: { victims: VICTIMS, rounds: 8 }, suspend: { victims: STOPPED, rounds: STOPPED.length } };
const KNOWN = [...VICTIMS, 'dockerd', ...STOPPED];
const scenario = ROUNDS[values.scenario];
const timed = TIMED.includes(values.scenario);
const rounds = Number(values.rounds ?? scenario?.rounds ?? 1);
const seed = Number(values.seed);
const stopMs = Number(values['stop-seconds']) * 1000;
const victims = values.victims?.split(',') ?? [...(scenario?.victims ?? [])];
const strategies = values.strategies?.split(',') ?? STRATEGIES;
const wrong =
  (scenario === undefined && !timed) ||
  !(rounds >= 1) ||
  ![rounds, seed].every(Number.isInteger) ||
  !(stopMs > 0) ||
  victims.some((name) => !KNOWN.includes(name)) ||
  strategies.some((name) => !STRATEGIES.includes(name));
if (wrong) {
  console.error(
    `Give ${[...Object.keys(ROUNDS), ...TIMED].join(', ')} for --scenario, whole numbers for --rounds and --seed, for --victims some of ${KNOWN.join(', ')}, and for --strategies some of ${STRATEGIES.join(', ')}.`,
  );
  process.exit(2);
}

const note = (line) => console.error(line);
const setup = await runSetup({ home: projectHome(process.env), yes: process.env.CI === 'true', log: note });
if (!setup.ok) process.exit(3);
if (timed) {
  const measured = await playScenario(values.scenario, note);
  console.log(JSON.stringify(measured));
  process.exit(measured.held ? 0 : 1);
}

const daemon = await daemonToKill({ home: projectHome(process.env), env: process.env, ours: new Set() });
if (values.victims === undefined && values.scenario === 'kill') {
  if ('pid' in daemon) victims.push('dockerd');
  else note(`dockerd itself is not killed, only cut off behind a socket: ${daemon.reason}.`);
}
const result = await runChaos({ rounds, seed, victims, strategies, stopMs, note });
console.log(
  values.json
    ? JSON.stringify(result)
    : `${result.rounds} rounds, ${result.kills} kills: ${held(result) ? 'everything held' : JSON.stringify(result)}`,
);
process.exit(held(result) ? 0 : 1);
