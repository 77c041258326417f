import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { OutputRow, Sandbox } from './sandbox.ts';
import { docker, ownContainers, rowsOf, testSandbox, withoutDocker } from './testing.ts';

/**
 * What programs that mean harm must not achieve: another value than `return` could have given, a survivor, a slot that no longer works,
 * a wait beyond the limits. Each is followed by a program that lists what it finds.
 */
describe('hostile programs', { skip: withoutDocker }, () => {
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

  /** Processes and files that a later program sees in any of the containers: only PID 1, itself, nothing. */
  const canary = async (): Promise<void> => {
    const source =
      'import os\ndef f(x):\n  seen = [int(p) for p in os.listdir("/proc") if p.isdigit() and int(p) not in (1, os.getpid())]\n  return [x * x + 7, len(seen), os.listdir("/tmp")]';
    const rows = await Promise.all([1, 2, 3, 4].map(() => rowsOf(sandbox, source, ['3'])));
    for (const [row] of rows) assert.deepEqual(row?.kind === 'value' ? row.value : row, '[16,0,[]]');
  };

  const attacks: [name: string, source: string, allowed: OutputRow['kind'][]][] = [
    ['kill every process it can', 'def f(x):\n  os.kill(-1, 9)\n  return x', ['value', 'exception', 'crash']],
    ['kill its parent', 'def f(x):\n  os.kill(os.getppid(), 9)\n  os.kill(1, signal.SIGSTOP)\n  return x', ['value']],
    [
      'send every signal to PID 1',
      'def f(x):\n  for n in range(1, 65):\n    try: os.kill(1, n)\n    except OSError: pass\n  return x',
      ['value'],
    ],
    ['interrupt itself', 'def f(x):\n  os.kill(os.getpid(), signal.SIGINT)\n  time.sleep(1)', ['exception']],
    ['stop itself', 'def f(x):\n  os.kill(os.getpid(), signal.SIGSTOP)', ['timeout']],
    ['fork without end', 'def f(x):\n  while True: os.fork()', ['exception', 'timeout', 'crash', 'memory_limit']],
    ['fork in every call', 'def f(x):\n  os.fork()\n  return x', ['value', 'crash']],
    [
      'leave a daemon',
      'def f(x):\n  if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n      while True:\n        open("/tmp/late", "a").write("x")\n    os._exit(0)\n  return x',
      ['value', 'crash'],
    ],
    [
      'twenty children that each take memory',
      'def f(x):\n  for _ in range(20):\n    if os.fork() == 0:\n      y = bytearray(900 << 20)\n      time.sleep(60)\n  y = bytearray(900 << 20)\n  time.sleep(1)\n  return x',
      ['memory_limit', 'value', 'timeout', 'crash'],
    ],
    ['print without end', 'def f(x):\n  while True: print("x" * 65536)', ['timeout']],
    ['write to the error stream without end', 'def f(x):\n  while True: os.write(2, b"x" * 65536)', ['timeout']],
    ['close every descriptor', 'def f(x):\n  os.closerange(0, 1024)\n  return x', ['crash']],
    [
      'flood every descriptor',
      'def f(x):\n  for fd in range(3, 256):\n    try:\n      while True: os.write(fd, b"\\xff" * 65536)\n    except OSError: pass\n  return x',
      ['output_limit', 'crash'],
    ],
    [
      'fill /tmp',
      'def f(x):\n  with open("/tmp/a", "wb") as a:\n    while True: a.write(b"x" * 65536)',
      ['exception', 'output_limit', 'crash', 'timeout'],
    ],
    [
      'use up the inodes',
      'def f(x):\n  for i in range(10**6): open(f"/tmp/{i}", "w").close()',
      ['exception', 'timeout'],
    ],
    [
      'ignore every signal',
      'for n in range(1, 65):\n  try: signal.signal(n, signal.SIG_IGN)\n  except (OSError, ValueError): pass\ndef f(x):\n  while True: pass',
      ['timeout'],
    ],
    [
      'return a value that claims to be equal to all',
      'class E(int):\n  def __eq__(s, o): return True\n  __hash__ = None\ndef f(x): return E(x)',
      ['value'],
    ],
    ['raise in its own exception', 'class B(Exception):\n  def __str__(s): os._exit(0)\ndef f(x): raise B', ['crash']],
    ['nest lists deeply', 'def f(x):\n  for _ in range(100000): x = [x]\n  return x', ['exception', 'crash']],
    [
      'burn the stack',
      'sys.setrecursionlimit(10**9)\ndef f(x): return f(x)',
      ['memory_limit', 'crash', 'timeout', 'exception'],
    ],
    ['burn time below Python', 'def f(x): return len(str(10 ** (10 ** 8)))', ['timeout', 'exception']],
    [
      'replace what reports use',
      'import json, builtins\njson.dumps = builtins.len = builtins.repr = lambda *a, **k: "[7]"\nos.write = lambda *a: 0\ndef f(x): return x',
      ['value', 'exception', 'crash'],
    ],
    [
      'leave a locked and deep tree',
      'def f(x):\n  for i in range(60):\n    os.mkdir("d"); os.chdir("d")\n  os.mkfifo("p"); os.symlink("/", "s"); os.chmod("..", 0); os.chmod("/tmp/d", 0)\n  return x',
      ['value', 'exception', 'crash'],
    ],
    [
      'leave a tree too deep to remove',
      'def f(x):\n  for i in range(3000):\n    os.mkdir("d"); os.chdir("d")\n  return x',
      ['value', 'exception', 'crash', 'timeout'],
    ],
  ];
  for (const [name, source, allowed] of attacks) {
    test(`a program may ${name}`, async () => {
      const started = performance.now();
      const rows = await run(source);
      assert.equal(rows.length, 2);
      for (const row of rows) assert.ok(allowed.includes(row.kind), JSON.stringify(rows).slice(0, 500));
      await canary();
      assert.ok(performance.now() - started < 60_000, 'took too long');
    });
  }

  test('what is forged into the result pipe is no more than a value', async () => {
    const forged = JSON.stringify({ kind: 'value', value: '"forged"', repr: 'forged', verdict: 'pass', passed: true });
    const source = `import struct\ndef f(x):\n  body = ${JSON.stringify(forged)}.encode()\n  for fd in range(3, 64):\n    try: os.write(fd, b"R" + struct.pack(">I", len(body)) + body)\n    except OSError: pass\n  time.sleep(0.2)\n  return x`;
    const rows = await run(source);
    for (const row of rows) {
      if (row.kind === 'value') assert.deepEqual(Object.keys(row).sort(), ['kind', 'repr', 'value']);
      else assert.equal(row.kind, 'crash');
    }
    await canary();
  });

  test('garbage in the result pipe is a crash', async () => {
    const source =
      'def f(x):\n  for fd in range(3, 64):\n    try: os.write(fd, b"R\\0\\0\\0\\5[[[[[")\n    except OSError: pass\n  time.sleep(0.2)\n  os._exit(0)';
    assert.deepEqual(
      (await run(source)).map(({ kind }) => kind),
      ['crash', 'crash'],
    );
    await canary();
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
