import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { OutputRow, Sandbox } from './sandbox.ts';
import { call, docker, ownContainers, rowsOf, TEST_LIMITS, testSandbox, withoutDocker } from './testing.ts';

/** The engine's doors, one by one. What hostile programs make of their verdicts is the subject of `test/attacks/`. */
describe('the walls of a container', { skip: withoutDocker }, () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await testSandbox();
  });
  after(async () => {
    await sandbox.close();
    assert.deepEqual(await ownContainers(), []);
  });

  const run = (source: string): Promise<OutputRow[]> =>
    rowsOf(sandbox, `import os, sys, posix, signal, time, ctypes\n${source}`, ['1', '2'], {
      limits: { cpuSeconds: 0.3 },
    });

  test('what is forged into the result pipe is no more than a value', async () => {
    const forged = '"forged"';
    const source = `import struct\ndef f(x):\n  body = ${JSON.stringify(forged)}.encode()\n  for fd in range(3, 64):\n    try: os.write(fd, b"V" + struct.pack(">I", len(body)) + body)\n    except OSError: pass\n  time.sleep(0.2)\n  return x`;
    const rows = await run(source);
    for (const row of rows) {
      if (row.kind === 'value') assert.deepEqual(Object.keys(row).sort(), ['kind', 'value']);
      else assert.equal(row.kind, 'crash');
    }
  });

  test('garbage in the result pipe is a crash', async () => {
    const source =
      'def f(x):\n  for fd in range(3, 64):\n    try: os.write(fd, b"R\\0\\0\\0\\5[[[[[")\n    except OSError: pass\n  time.sleep(0.2)\n  os._exit(0)';
    assert.deepEqual(
      (await run(source)).map(({ kind }) => kind),
      ['crash', 'crash'],
    );
  });

  test('no bytes in the result pipe end the container, wait for ever, or say more than a program may', async () => {
    const program = (seed: number) => `
import os, random, struct, time
def piece(chance):
  body = chance.choice([b'{"kind":"timeout"}', b'{"value":"1","printed":"1"}', b"[" * 9, chance.randbytes(chance.randrange(40))])
  size = chance.choice([len(body)] * 3 + [len(body) - 1, len(body) + 1, 0, 1 << 16, (1 << 32) - 1])
  framed = chance.choice([b"R", b"V", b"P", b"F", b"L", b"M", b"X", b"O", b"E", b"N", b"J", chance.randbytes(1)]) + struct.pack(">I", max(0, size)) + body
  return chance.choice([framed] * 4 + [framed[:5], framed[:3], framed * 2, chance.randbytes(300)])
def f(x):
  chance = random.Random(${seed} * 100 + x)
  for _ in range(chance.randrange(5)):
    data = piece(chance)
    for fd in range(3, 16):
      try: os.write(fd, data)
      except OSError: pass
  if chance.random() < 0.3: os._exit(0)
  return x`;
    const before = await ownContainers();
    const programs = Array.from({ length: 50 }, (_, seed) => ({ source: program(seed), entryPoint: 'f' }));
    const rows = await sandbox.runCalls({
      programs,
      calls: ['1', '2', '3'].map((arg) => call(arg)),
      limits: TEST_LIMITS,
    });
    const kinds = new Set(rows.flat().map(({ kind }) => kind));
    for (const kind of ['timeout', 'not_run'] as const) assert.ok(!kinds.has(kind), kind);
    assert.ok(kinds.has('crash') && kinds.has('value'));
    assert.deepEqual(await rowsOf(sandbox, 'def f(x):\n  return x', ['1']), [{ kind: 'value', value: '1' }]);
    const now = await ownContainers();
    assert.ok(before.every((id) => now.includes(id)));
  });

  test('the other doors are shut', async () => {
    const attempt = (body: string) => `lambda: ${body}`;
    const doors: [name: string, expression: string][] = [
      ['internet socket', '__import__("socket").socket()'],
      ['vsock', '__import__("socket").socket(40, 1)'],
      ['netlink', '__import__("socket").socket(16, 3)'],
      ['memory of PID 1', 'open("/proc/1/mem", "rb")'],
      ['descriptors of PID 1', 'os.listdir("/proc/1/fd")'],
      ['own memory', 'open("/proc/self/mem", "rb")'],
      ['another program', 'os.execv("/usr/bin/python3", ["python3", "-c", "1"])'],
      ['the root file system', 'open("/opt/qf/x", "w")'],
      ['the runner', 'os.unlink("/opt/qf/runner.py")'],
      ['shared memory', 'open("/dev/shm/x", "w")'],
      ['limits of PID 1', '__import__("resource").prlimit(1, 0, (0, 0))'],
      ['priority of PID 1', 'os.setpriority(os.PRIO_PROCESS, 1, 19)'],
      ['being root', 'os.setuid(0)'],
      ['more time', '__import__("resource").setrlimit(0, (10**6, 10**6))'],
      ['a safer place from the memory killer', 'open("/proc/self/oom_score_adj", "w").write("-1000")'],
    ];
    const source = `def f(x):\n  doors = [${doors.map(([, expression]) => attempt(expression)).join(', ')}]\n  opened = []\n  for i, door in enumerate(doors):\n    try:\n      door()\n      opened.append(i)\n    except (OSError, ValueError): pass\n  return opened`;
    const [row] = await run(source);
    assert.ok(row?.kind === 'value', JSON.stringify(row));
    const opened: unknown = JSON.parse(row.value);
    assert.ok(Array.isArray(opened));
    assert.deepEqual(
      opened.map((index) => doors[Number(index)]?.[0]),
      [],
    );
  });

  test('the containers are as closed as they are meant to be', async () => {
    const [id] = await ownContainers();
    assert.ok(id !== undefined);
    const { HostConfig, Config } = await docker.getContainer(id).inspect();
    assert.equal(Config.User, '65534:65534');
    assert.equal(HostConfig.NetworkMode, 'none');
    assert.equal(HostConfig.ReadonlyRootfs, true);
    assert.deepEqual(HostConfig.CapDrop, ['ALL']);
    assert.deepEqual(HostConfig.SecurityOpt, ['no-new-privileges']);
    assert.equal(HostConfig.Memory, HostConfig.MemorySwap);
    assert.equal(HostConfig.PidsLimit, 64);
    assert.equal(HostConfig.IpcMode, 'none');
    const source =
      'def f(x):\n  s = dict(l.split(":\\t", 1) for l in open("/proc/self/status").read().splitlines() if ":\\t" in l)\n  return [s[k].split()[0] for k in ("Uid", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp")]';
    const [row] = await run(source);
    assert.equal(row?.kind === 'value' && row.value, '["65534","0000000000000000","0000000000000000","1","2"]');
  });
});
