// `npm test`: set-up, checks, then every test; ends with the runner's own summary. Arguments narrow it to those files, without checks.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { runSetup } from '../src/setup/run-setup.ts';
import { projectHome } from '../src/temporal/embedded/home.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
const files = process.argv.slice(2);

const report = await runSetup({
  home: projectHome(process.env),
  yes: process.env.CI === 'true',
  log: (line) => console.log(line),
});
if (!report.ok) process.exit(3);

if (files.length === 0) {
  const check = spawnSync(process.execPath, ['scripts/check.mjs'], { stdio: ['ignore', 'inherit', 'inherit'] });
  if (check.status !== 0) process.exit(check.status ?? 1);
}

const runner = spawn(
  process.execPath,
  [
    '--test',
    '--test-concurrency=2',
    '--test-timeout=300000',
    '--test-reporter=spec',
    ...(files.length === 0 ? ['src/**/*.test.ts', 'test/**/*.test.ts'] : files),
  ],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => runner.kill(signal));

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
if (skippedData && existsSync(join(root, '../shared/data'))) {
  console.error(
    'Tests of the benchmarks were skipped although their data is there: set QUALITYFLOW_DATA_DIR to its folder.',
  );
  process.exit(1);
}
process.exit(code);
