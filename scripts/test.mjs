// `npm test`: set-up, checks, then every test; ends with the runner's own summary, also when a check complains or time runs out.
// Arguments narrow it to those files, without checks.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { runSetup } from '../src/setup/run-setup.ts';
import { projectHome } from '../src/temporal/embedded/home.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
/** Set-up included, in ms. A hanging test must not keep the others' results from being told. */
const WHOLE_SUITE_MS = 18 * 60_000;
const startedAt = performance.now();
const files = process.argv.slice(2);

const report = await runSetup({
  home: projectHome(process.env),
  yes: process.env.CI === 'true',
  log: (line) => console.log(line),
});
if (!report.ok) process.exit(3);

const checked =
  files.length > 0 ||
  spawnSync(process.execPath, ['scripts/check.mjs'], { stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;

const runner = spawn(
  process.execPath,
  [
    '--test',
    '--test-concurrency=2',
    '--test-timeout=300000',
    '--test-reporter=spec',
    ...(files.length === 0 ? ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'] : files),
  ],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => runner.kill(signal));

let late = false;
const timer = setTimeout(
  () => {
    late = true;
    // The runner names what was running and sums up.
    runner.kill('SIGINT');
  },
  Math.max(0, WHOLE_SUITE_MS - (performance.now() - startedAt)),
);

let skippedData = false;
const lines = createInterface({ input: runner.stdout });
lines.on('line', (line) => {
  if (line.includes('no benchmark data')) skippedData = true;
  console.log(line);
});
const [code] = await Promise.all([
  new Promise((resolve) => runner.on('exit', (status) => resolve(status ?? 1))),
  new Promise((resolve) => lines.on('close', resolve)),
]);
clearTimeout(timer);
if (skippedData && existsSync(join(root, '../shared/data'))) {
  console.error(
    'Tests of the benchmarks were skipped although their data is there: set QUALITYFLOW_DATA_DIR to its folder.',
  );
  process.exit(1);
}
if (late) console.error(`The tests were ended: they had not finished within ${WHOLE_SUITE_MS / 60_000} minutes.`);
if (!checked) console.error('A check failed, see above the tests.');
process.exit(checked && !late ? code : 1);
