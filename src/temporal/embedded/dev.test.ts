import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connectClient } from '../connection.ts';
import { InfrastructureError } from '../infrastructure-error.ts';
import { missingSearchAttributes, namespaceRetentionHours } from '../namespace.ts';
import { askSupervisor, type DevState } from './control.ts';
import { type DevInfo, devStatus, ensureDev, stopDev } from './dev.ts';
import { prepareHome, projectHome } from './home.ts';
import { processStart } from './process-table.ts';
import { ensureTemporalBinary } from './temporal-binary.ts';
import { workerEnv } from './worker-env.ts';

/** Stand-ins for the two children of ours: what they do is not the supervisor's business. */
const WORKER = `
import { writeFileSync } from 'node:fs';
const { home, address } = JSON.parse(process.argv[2]);
writeFileSync(home + '/worker-seen.json', JSON.stringify({ env: process.env, address }));
console.log('ready');
process.on('SIGTERM', () => process.exit(0));
setInterval(() => {}, 1000);
`;
const SCRIPTED = `
const port = process.argv[process.argv.indexOf('--port') + 1];
console.log('http://127.0.0.1:' + port + '/v1');
setInterval(() => {}, 1000);
`;

describe('the embedded supervisor', { timeout: 240_000 }, () => {
  let root: string;
  let home: string;
  let entries: { worker: string; scripted: string };
  let env: Record<string, string | undefined>;
  const log = () => {};
  const dev = (more: Record<string, string> = {}) => ensureDev({ home, env: { ...env, ...more }, log, entries });
  const devBeside = (sweeps: string[], more: Record<string, string>) =>
    ensureDev({ home, env: { ...env, ...more }, log, entries, running: async () => sweeps });
  const running = (pid: number | undefined) => pid !== undefined && processStart(pid) !== undefined;

  before(async () => {
    root = mkdtempSync(join(tmpdir(), 'qf-dev-'));
    // Longer than a socket address holds.
    home = join(root, 'state'.repeat(30), '.qualityflow');
    entries = { worker: join(root, 'worker.mjs'), scripted: join(root, 'scripted.mjs') };
    writeFileSync(entries.worker, WORKER);
    writeFileSync(entries.scripted, SCRIPTED);
    const { path } = await ensureTemporalBinary({ home: projectHome(process.env), env: process.env, log });
    mkdirSync(join(root, 'bin'));
    symlinkSync(path, join(root, 'bin', 'temporal'));
    env = { PATH: `${join(root, 'bin')}:${process.env.PATH}`, HOME: root };
  });

  after(async () => {
    await stopDev({ home });
    rmSync(root, { recursive: true, force: true });
  });

  let info: DevInfo;

  test('two commands at once get one supervisor, one server, one worker', async () => {
    const [first, second] = await Promise.all([dev(), dev()]);
    assert.deepEqual(first, second);
    assert.deepEqual(Object.keys(first.pids).sort(), ['scripted', 'supervisor', 'temporal', 'worker']);
    for (const pid of Object.values(first.pids)) assert.ok(running(pid));
    info = first;
  });

  test('its namespace keeps closed runs for 30 days and knows the search attributes', async () => {
    const { connection } = await connectClient({ connectionOptions: { address: info.address }, namespace: 'default' });
    try {
      assert.equal(await namespaceRetentionHours(connection, 'default'), 720);
      assert.deepEqual(await missingSearchAttributes(connection, 'default'), []);
    } finally {
      await connection.close();
    }
    assert.equal((await fetch(info.uiUrl)).status, 200);
  });

  test('a key reaches the worker and no file; the worker restarts only when its environment is another', async () => {
    const key = `sk-${'k'.repeat(20)}`;
    const second = await dev({ OPENAI_API_KEY: key, COLUMNS: '80' });
    assert.notEqual(second.pids.worker, info.pids.worker);
    assert.equal(second.pids.temporal, info.pids.temporal);
    const seen = JSON.parse(readFileSync(join(home, 'worker-seen.json'), 'utf8'));
    assert.equal(seen.env.OPENAI_API_KEY, key);
    assert.equal(seen.address, info.address);
    const again = await dev({ OPENAI_API_KEY: key, COLUMNS: '120' });
    assert.deepEqual(again.pids, second.pids);
    for (const file of ['dev.json', 'ports.json', 'logs/supervisor.log', 'logs/worker.log']) {
      assert.ok(!readFileSync(join(home, file), 'utf8').includes(key), file);
    }
    const commandLines = Object.values(again.pids).map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
    assert.ok(!commandLines.join().includes(key));
    info = again;
  });

  test('a bare shell, or one with the same settings, leaves the worker alone, with or without a running sweep', async () => {
    const settings = { QUALITYFLOW_DATA_DIR: root, DOCKER_HOST: 'unix:///x', OPENAI_BASE_URL: 'http://a/v1' };
    const set = await dev(settings);
    assert.notEqual(set.pids.worker, info.pids.worker);
    const same = [
      {},
      { DOCKER_HOST: 'unix:///x' },
      { PATH: `${env.PATH}:/nowhere`, LANG: 'C', TZ: 'UTC', TMPDIR: root },
    ];
    for (const more of same) {
      assert.deepEqual((await dev(more)).pids, set.pids);
      assert.deepEqual((await devBeside(['big'], more)).pids, set.pids);
    }
    const seen = JSON.parse(readFileSync(join(home, 'worker-seen.json'), 'utf8'));
    assert.equal(seen.env.QUALITYFLOW_DATA_DIR, root);
    info = set;
  });

  test('another setting is refused while a sweep runs, by its name alone, and taken when none does', async () => {
    const cases = [
      { OPENAI_API_KEY: 'sk-other' },
      { OPENAI_BASE_URL: 'http://b/v1' },
      { QUALITYFLOW_DATA_DIR: '/b' },
      { DOCKER_HOST: 'unix:///b' },
      { HTTPS_PROXY: 'http://b' },
    ];
    for (const more of cases) {
      const [[name, value] = ['', '']] = Object.entries(more);
      await assert.rejects(devBeside(['big'], more), (error) => {
        assert.ok(error instanceof InfrastructureError);
        assert.ok(
          error.message.startsWith(`${name} is set otherwise here than for the running sweep big,`),
          error.message,
        );
        assert.ok(!`${error.message}${error.remedy}`.includes(value));
        assert.match(error.remedy, /sweep cancel big.*QUALITYFLOW_HOME/);
        return true;
      });
      assert.deepEqual((await devStatus({ home }))?.processes.worker?.pid, info.pids.worker);
    }
    const idle = await ensureDev({ home, env: { ...env, DOCKER_HOST: 'unix:///b' }, log, entries, onlyWhenIdle: true });
    assert.deepEqual(idle.pids, info.pids, 'a command that needs no settings brings none');
    const taken = await dev({ OPENAI_BASE_URL: 'http://b/v1' });
    assert.notEqual(taken.pids.worker, info.pids.worker);
    const seen = JSON.parse(readFileSync(join(home, 'worker-seen.json'), 'utf8'));
    assert.equal(seen.env.OPENAI_BASE_URL, 'http://b/v1');
    assert.equal(seen.env.OPENAI_API_KEY, undefined, 'the key to the endpoint of before');
    assert.equal(seen.env.DOCKER_HOST, 'unix:///x');
    info = taken;
  });

  test('a supervisor that is stopped is told within the deadline, with its pid', { timeout: 40_000 }, async () => {
    const pid = info.pids.supervisor ?? 0;
    process.kill(pid, 'SIGSTOP');
    try {
      const told = (error: unknown) => {
        assert.ok(error instanceof InfrastructureError);
        assert.equal(error.message, `The supervisor (pid ${pid}) does not answer within 10 s.`);
        assert.match(error.remedy, new RegExp(`kill -CONT ${pid}`));
        return true;
      };
      const commands = [devStatus({ home }), dev(), stopDev({ home })];
      await Promise.all(commands.map((command) => assert.rejects(command, told)));
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    assert.deepEqual((await dev()).pids, info.pids);
  });

  test('its files are for the owner alone', () => {
    for (const file of ['dev.sock', 'dev.json', 'temporal.db', 'logs/worker.log']) {
      assert.equal(statSync(join(home, file)).mode & 0o077, 0, file);
    }
  });

  test('a killed child is started again', async () => {
    process.kill(info.pids.temporal ?? 0, 'SIGKILL');
    process.kill(info.pids.worker ?? 0, 'SIGKILL');
    const healed = await dev({ OPENAI_API_KEY: `sk-${'k'.repeat(20)}` });
    assert.notEqual(healed.pids.temporal, info.pids.temporal);
    assert.equal(healed.address, info.address);
    assert.equal((await devStatus({ home }))?.restarts, 2);
    info = healed;
  });

  test('a killed supervisor takes its children along, and is replaced by one, at the same addresses', async () => {
    process.kill(info.pids.supervisor ?? 0, 'SIGKILL');
    assert.ok(existsSync(join(home, 'dev.sock')), 'the stale socket is there');
    const [first, second] = await Promise.all([dev(), dev()]);
    assert.deepEqual(first, second);
    for (const name of ['supervisor', 'temporal', 'worker', 'scripted']) {
      assert.notEqual(first.pids[name], info.pids[name]);
      assert.ok(running(first.pids[name]), `the new ${name} runs`);
    }
    const deadline = Date.now() + 10_000;
    while (Object.values(info.pids).some(running) && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 50));
    for (const [name, pid] of Object.entries(info.pids)) assert.ok(!running(pid), `the old ${name} is gone`);
    assert.equal(first.uiUrl, info.uiUrl);
    assert.equal(first.address, info.address);
    info = first;
  });

  test('with a cluster of the environment there is a worker but no server', async () => {
    const other = join(root, 'other');
    try {
      const external = await ensureDev({ home: other, env: { ...env, TEMPORAL_ADDRESS: info.address }, log, entries });
      assert.deepEqual(Object.keys(external.pids).sort(), ['scripted', 'supervisor', 'worker']);
      assert.equal(external.address, info.address);
      assert.equal(external.uiUrl, '');
      assert.equal(
        JSON.parse(readFileSync(join(other, 'worker-seen.json'), 'utf8')).env.TEMPORAL_ADDRESS,
        info.address,
      );
    } finally {
      await stopDev({ home: other });
    }
  });

  test('a supervisor of another build is replaced, but not under a running sweep', async () => {
    const other = prepareHome(join(root, 'old-build'));
    const main = join(import.meta.dirname, 'supervisor-main.ts');
    spawn(process.execPath, [main, other, 'older', entries.worker, entries.scripted], {
      detached: true,
      stdio: 'ignore',
    });
    try {
      const cluster = { ...env, TEMPORAL_ADDRESS: info.address };
      const request = { op: 'configure', env: workerEnv({ env: cluster }), onlyWhenIdle: false } as const;
      let old: DevState | undefined;
      while (old === undefined) {
        old = await askSupervisor(other, { ...request, running: [], temporalPath: null });
        if (old === undefined) await new Promise((resolve) => setTimeout(resolve, 50));
      }
      const options = { home: other, env: cluster, log, entries };
      await assert.rejects(ensureDev({ ...options, running: async () => ['big'] }), /the sweep big is another build/);
      assert.equal((await devStatus({ home: other }))?.processes.supervisor?.pid, old.processes.supervisor?.pid);
      const replaced = await ensureDev(options);
      assert.notEqual(replaced.pids.supervisor, old.processes.supervisor?.pid);
    } finally {
      await stopDev({ home: other });
    }
  });

  test('the server keeps its histories in memory when that is asked for, and in a file again', async () => {
    const commandLine = (pid: number | undefined) => readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    const inMemory = await dev({ QUALITYFLOW_TEMPORAL: 'memory' });
    assert.equal(inMemory.address, info.address);
    assert.doesNotMatch(commandLine(inMemory.pids.temporal), /db-filename/);
    assert.deepEqual(
      await dev(),
      { ...inMemory, storage: 'memory' },
      'a bare shell leaves it as it is, and can tell where it is',
    );
    info = await dev({ QUALITYFLOW_TEMPORAL: 'file' });
    assert.match(commandLine(info.pids.temporal), /db-filename/);
    await assert.rejects(dev({ QUALITYFLOW_TEMPORAL: 'ram' }), /QUALITYFLOW_TEMPORAL is "ram"/);
  });

  test('down ends everything and can be said twice', async () => {
    assert.equal(await stopDev({ home }), true);
    for (const [name, pid] of Object.entries(info.pids)) assert.ok(!running(pid), name);
    assert.ok(!existsSync(join(home, 'dev.json')));
    assert.equal(await devStatus({ home }), undefined);
    assert.equal(await stopDev({ home }), false);
  });

  test('down stops a supervisor whose socket is gone, and the next start waits for nothing', async () => {
    info = await dev();
    rmSync(join(home, 'dev.sock'));
    rmSync(join(home, 'dev.json'));
    assert.equal(await devStatus({ home }), undefined);
    assert.equal(await stopDev({ home }), true);
    for (const [name, pid] of Object.entries(info.pids)) assert.ok(!running(pid), name);
    const startedAt = performance.now();
    info = await dev();
    assert.ok(performance.now() - startedAt < 20_000);
    await stopDev({ home });
  });

  test('down names a stranger that holds the lock', { skip: process.platform !== 'linux' }, async () => {
    const script = `
      const { DatabaseSync } = require('node:sqlite');
      const lock = new DatabaseSync(process.argv[1]);
      lock.exec('BEGIN EXCLUSIVE');
      console.log('held');
      setInterval(() => lock.isOpen, 1000);`;
    const stranger = spawn(process.execPath, ['-e', script, join(home, 'dev.lock')]);
    try {
      await once(stranger.stdout, 'data');
      const { pid } = stranger;
      await assert.rejects(stopDev({ home }), new RegExp(`The process ${pid} holds .*dev\\.lock`));
      assert.ok(pid !== undefined && running(pid));
    } finally {
      stranger.kill('SIGKILL');
      await once(stranger, 'close');
    }
  });

  test('a supervisor whose home is deleted ends, with its children', async () => {
    const other = join(root, 'doomed');
    const { pids } = await ensureDev({ home: other, env, log, entries });
    rmSync(other, { recursive: true, force: true });
    const deadline = Date.now() + 20_000;
    while (Object.values(pids).some(running) && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 100));
    for (const [name, pid] of Object.entries(pids)) assert.ok(!running(pid), name);
  });

  test('a worker that cannot start is reported with its last words', async () => {
    const broken = join(root, 'broken.mjs');
    writeFileSync(broken, `console.error('no such thing'); process.exit(7);`);
    await assert.rejects(
      ensureDev({ home, env, log, entries: { ...entries, worker: broken } }),
      /The worker ended with status 7: no such thing/,
    );
    await stopDev({ home });
  });
});
