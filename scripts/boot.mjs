#!/usr/bin/env node
// Runs before anything is installed, on Node 18 and newer, so it imports nothing but Node itself.
//
//   node scripts/boot.mjs demo|test|check|run|chaos|attacks|bench|prepack [arguments…]
//
// Installs the locked dependencies when they are missing or others, then goes on under a Node that runs TypeScript.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const modules = join(root, 'node_modules');
const packagedNode = join(modules, '.bin', 'node');
// `npm ci` deletes node_modules first, so a stamp inside never outlives the tree that it speaks of.
const stamp = join(modules, '.installed-lock');

const entries = {
  demo: ['bin/qualityflow.mjs', 'demo'],
  run: ['bin/qualityflow.mjs'],
  test: ['scripts/test.mjs'],
  check: ['scripts/check.mjs'],
  chaos: ['scripts/chaos.mjs'],
  attacks: ['scripts/attacks.mjs'],
  bench: ['bench/main.ts'],
  prepack: ['scripts/prepack.mjs'],
};

function fail(message, status) {
  process.stderr.write(`${message}\n`);
  process.exit(status);
}

function wantedStamp() {
  const lock = readFileSync(join(root, 'package-lock.json'));
  return `${createHash('sha256').update(lock).digest('hex')} ${process.platform}-${process.arch}\n`;
}

function installed() {
  return (existsSync(stamp) && readFileSync(stamp, 'utf8') === wantedStamp()) || installedByNpm();
}

/** Whether npm's own record of the tree holds every locked package, as after somebody's `npm ci`. Optional ones depend on the platform. */
function installedByNpm() {
  try {
    const packagesOf = (path) => JSON.parse(readFileSync(path, 'utf8')).packages;
    const there = packagesOf(join(modules, '.package-lock.json'));
    const wanted = Object.entries(packagesOf(join(root, 'package-lock.json'))).filter(([path]) => path !== '');
    return wanted.every(([path, { optional, devOptional, version, integrity }]) => {
      const found = there[path];
      if (found === undefined) return optional === true || devOptional === true;
      return found.version === version && found.integrity === integrity && existsSync(join(root, path, 'package.json'));
    });
  } catch {
    return false;
  }
}

/**
 * Runs `work` while holding a TCP port of the loopback that is computed from this checkout's path: the system frees it however the
 * process ends. A port that somebody unrelated holds does not answer with our greeting, and the next one is taken.
 */
async function exclusively(work) {
  const greeting = `qualityflow ${createHash('sha256').update(root).digest('hex')}`;
  let port = 20000 + (createHash('sha256').update(root).digest().readUInt32BE(0) % 10000);
  let said = false;
  for (;;) {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.write(greeting);
    });
    const free = await new Promise((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (free) {
      try {
        return await work();
      } finally {
        server.close();
      }
    }
    const answer = await new Promise((resolve) => {
      let text = '';
      const socket = connect(port, '127.0.0.1');
      socket.setTimeout(2000, () => socket.destroy());
      socket.on('data', (chunk) => {
        text += chunk;
        if (text.length >= greeting.length) socket.destroy();
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve(text));
    });
    if (answer === greeting) {
      if (!said) process.stderr.write('Waiting for another installation in this folder …\n');
      said = true;
      await new Promise((resolve) => setTimeout(resolve, 500));
    } else if (answer !== '') {
      port += 1;
    } else {
      // Either its holder has just gone, or it is a stranger that says nothing: one more try, then the next port.
      await new Promise((resolve) => setTimeout(resolve, 200));
      port += said ? 0 : 1;
    }
  }
}

async function install() {
  if (installed()) return;
  // `npm ci` empties the folder that a link leads to, which belongs to somebody else.
  if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) {
    const place = existsSync(modules) ? realpathSync(modules) : 'a folder that is not there';
    fail(
      `node_modules is a link to ${place}, which does not hold the packages of package-lock.json. Remove the link, or run npm ci there, then run this again.`,
      3,
    );
  }
  process.stderr.write('Installing dependencies (npm ci) …\n');
  const wanted = wantedStamp();
  const npm = process.env.npm_execpath;
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error', '--include=dev', '--include=optional'];
  const [command, all] = npm && /npm-cli\.c?js$/.test(npm) ? [process.execPath, [npm, ...args]] : ['npm', args];
  // Not the synchronous spawn: whoever waits for us must be answered. Standard output belongs to the command that follows.
  const child = spawn(command, all, { cwd: root, stdio: ['ignore', 2, 2] });
  // However this process ends, npm must not go on beside the next one: the watchdog's input closes with us.
  const watchdog = spawn('sh', ['-c', 'read -r _; kill "$1"', 'sh', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.on('error', () => {});
  const status = await new Promise((resolve) => {
    child.on('error', (error) => fail(`npm could not be started (${error.message}). Install Node.js with npm.`, 3));
    child.on('exit', resolve);
  });
  watchdog.kill('SIGKILL');
  if (status !== 0) fail('npm ci failed, see above. Check the network and the npm registry, then run this again.', 3);
  writeFileSync(stamp, wanted);
}

function usableNode() {
  if (existsSync(packagedNode)) return packagedNode;
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return process.execPath;
  return undefined;
}

const [name = '', ...rest] = process.argv.slice(2);
const entry = Object.hasOwn(entries, name) ? entries[name] : undefined;
if (entry === undefined) fail(`Usage: node scripts/boot.mjs ${Object.keys(entries).join('|')} [arguments…]`, 2);

// Packing an installed tree must not install again: npm itself calls this in the middle of its work.
if (name !== 'prepack' && !installed()) await exclusively(install);

const node = usableNode();
if (node === undefined) {
  fail(`qualityflow needs Node.js 22.18 or newer, and this is ${process.versions.node}: install a newer one.`, 3);
}

const [script, ...before] = entry;
const child = spawn(node, [join(root, script), ...before, ...rest], {
  stdio: 'inherit',
  env: { ...process.env, PATH: `${join(modules, '.bin')}${delimiter}${process.env.PATH ?? ''}` },
});
// Ctrl-C reaches the child by itself, from the terminal.
process.on('SIGINT', () => {
  if (!process.stdin.isTTY) child.kill('SIGINT');
});
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) =>
  fail(`${node} could not be started: ${error.message}. Delete node_modules and run this again.`, 3),
);
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code ?? 1);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // SIGINT and the like end this process above; where one is ignored, the shell's convention still says so.
  setTimeout(() => process.exit(130), 1000);
});
