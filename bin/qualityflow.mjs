#!/usr/bin/env node
// The command. An installed package has `dist`; a checkout runs its sources. Runs on any Node, and goes on under one that is new enough.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const built = join(root, 'dist', 'cli', 'main.js');
const source = join(root, 'src', 'cli', 'main.ts');
// A checkout in which somebody packed has both: its sources are the newer ones.
const inCheckout = existsSync(source);
const main = inCheckout ? source : built;

const [major, minor] = process.versions.node.split('.').map(Number);
if (major > 22 || (major === 22 && minor >= 18)) {
  // What is compiled is kept in the state folder, where there is one, as its worker does: half of what a command takes to start.
  const home = process.env.QUALITYFLOW_HOME || '.qualityflow';
  if (existsSync(home)) module.enableCompileCache?.(join(home, 'cache', 'node'));
  const { main: run } = await import(pathToFileURL(main).href);
  process.exitCode = await run(process.argv.slice(2));
} else {
  const node = packagedNode();
  if (node === undefined) {
    const way = inCheckout ? 'run `npm ci` here, which brings one' : 'install a newer one';
    process.stderr.write(`qualityflow needs Node.js 22.18 or newer, and this is ${process.versions.node}: ${way}.\n`);
    process.exit(3);
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  process.on('SIGINT', () => {
    if (!process.stdin.isTTY) child.kill('SIGINT');
  });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`${node} could not be started: ${error.message}.\n`);
    process.exit(3);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/** The Node of the optional dependency, wherever the package manager has put it. */
function packagedNode() {
  try {
    const manifest = module
      .createRequire(import.meta.url)
      .resolve(`node-${process.platform}-${process.arch}/package.json`);
    const node = join(dirname(manifest), 'bin', 'node');
    return existsSync(node) ? node : undefined;
  } catch {
    return undefined;
  }
}
