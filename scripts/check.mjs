// Types, format, lint, import law and dead exports, one line each, with a tool's output only when it complains.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** @type {[name: string, tool: string, args: string[]][]} */
const checks = [
  ['types', 'tsc', ['-p', '.']],
  ['format', 'biome', ['check', '--error-on-warnings', '.']],
  ['lint', 'oxlint', ['--type-aware', '--quiet']],
  ['import law', 'depcruise', ['--ts-pre-compilation-deps', 'src', 'test', 'bench']],
  ['dead code', 'knip', ['--no-progress']],
];

let failed = 0;
for (const [name, tool, args] of checks) {
  const started = performance.now();
  const result = spawnSync(join(root, 'node_modules', '.bin', tool), args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const ok = result.status === 0;
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name} (${tool}, ${seconds} s)`);
  if (ok) continue;
  failed += 1;
  console.log((result.error?.message ?? `${result.stdout}${result.stderr}`).trimEnd());
}
process.exit(failed === 0 ? 0 : 1);
