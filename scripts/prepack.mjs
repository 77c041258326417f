// Makes `dist`, a mirror of `src`: JavaScript with `.js` specifiers, the files that are not TypeScript, and the bundled workflows.
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildWorkflowCode } from '../src/temporal/workflow-bundle.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
rmSync('dist', { recursive: true, force: true });

// The configuration of the build is that of the check, without the tests and with output.
const { compilerOptions } = JSON.parse(readFileSync('tsconfig.json', 'utf8'));
mkdirSync('dist');
writeFileSync(
  'dist/tsconfig.json',
  JSON.stringify({
    compilerOptions: { ...compilerOptions, noEmit: false, rootDir: '../src', outDir: '.' },
    include: ['../src'],
    exclude: ['../src/**/*.test.ts'],
  }),
);
const tsc = spawnSync(join('node_modules', '.bin', 'tsc'), ['-p', 'dist/tsconfig.json'], { stdio: ['ignore', 2, 2] });
rmSync('dist/tsconfig.json');
if (tsc.status !== 0) process.exit(1);

const isPart = (file) => statSync(file).isFile() && !/\.ts$|\.pyc$|(^|\/)test_/.test(file);
for (const file of globSync('src/**/*').filter(isPart)) {
  const target = join('dist', relative('src', file));
  mkdirSync(dirname(target), { recursive: true });
  cpSync(file, target);
}
// Stack traces keep their lines, but not the folder of the machine that built the package.
const code = await buildWorkflowCode();
writeFileSync(
  'dist/workflow-bundle.js',
  code.replace(/(sourceMappingURL=data:application\/json;charset=utf-8;base64,)([\w+/=]+)/, (_, head, map) => {
    const sources = Buffer.from(map, 'base64').toString().replaceAll(root, '');
    return head + Buffer.from(sources).toString('base64');
  }),
);
