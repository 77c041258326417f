/** What 5,000 programs leave behind: memory, descriptors and processes of this process, of the containers' runners and of the Docker daemon. */
import { readdirSync, readFileSync } from 'node:fs';
import type Docker from 'dockerode';
import { gradeAsserts } from '../src/grading/grade-asserts.ts';
import { connectDocker } from '../src/sandbox/docker-engine.ts';
import { createDockerSandbox } from '../src/sandbox/docker-sandbox.ts';
import { ensureSandboxImage } from '../src/sandbox/image.ts';
import type { Sandbox } from '../src/sandbox/sandbox.ts';
import { daemonPid } from '../src/setup/docker-daemon.ts';
import { projectHome } from '../src/temporal/embedded/home.ts';
import type { BenchOptions } from './figure.ts';

export const FLAT = 'flat over 5,000 programs';
const PROGRAMS = 5000;
/** Programs before the first measurement, by which every kind has run and pools and buffers have their size. */
const WARM_UP = 1000;
const TOGETHER = 50;
const MB = 2 ** 20;

/** Right, wrong, raising, leaving, forking, printing and large ones, each a text of its own so that none is graded for another. */
const BODIES = [
  'return x + 1',
  'return x',
  'raise ValueError("no")',
  'os._exit(0)',
  'os.fork() or time.sleep(9)\n  return x + 1',
  'print("x" * 100000)\n  return x + 1',
  'open("/tmp/left", "w").write("x" * 100000)\n  return x + 1',
  'return [list(range(20000))]',
  'threading.Thread(target=time.sleep, args=(9,)).start()\n  return x + 1',
  'bytearray(50 << 20)\n  return x + 1',
];

interface Reading {
  memory: number;
  descriptors: number;
  processes: number;
}

export async function flat({ scale, report, note }: BenchOptions): Promise<void> {
  const docker = connectDocker({ env: process.env });
  const { imageId } = await ensureSandboxImage({ docker, home: projectHome(process.env), log: note });
  const sandbox = await createDockerSandbox({ docker, imageId, log: note });
  const daemon = daemonPid();
  try {
    const read = async () => ({
      worker: readingOf([process.pid]),
      containers: readingOf(await runnerPids(docker)),
      daemon: readingOf(daemon === undefined ? [] : [daemon]),
    });
    await gradePrograms(sandbox, 0, Math.round(WARM_UP * scale));
    const before = await read();
    const total = Math.round(PROGRAMS * scale);
    for (let done = 0; done < total; done += 1000) {
      await gradePrograms(sandbox, WARM_UP + done, Math.min(1000, total - done));
      const { worker, containers } = await read();
      note(`flat: after ${done + Math.min(1000, total - done)}: ${toText(worker)}; containers ${toText(containers)}`);
    }
    const after = await read();
    const alone = { reference: null, ratio: null };
    for (const [who, most] of [
      ['worker', 64],
      ['containers', 16],
      ['daemon', 64],
    ] as const) {
      if (who === 'daemon' && daemon === undefined) continue;
      const [first, last] = [before[who], after[who]];
      const named = (what: string) => `${FLAT}: ${what} of ${who}`;
      const mark = (atMost: number) => ({ ...alone, mark: { of: 'value' as const, atMost } });
      report({ figure: named('memory'), value: (last.memory - first.memory) / MB, unit: 'MB', ...mark(most) });
      // Connections come and go, and a Docker daemon may serve others meanwhile.
      const few = who === 'containers' ? 0 : 8;
      report({ figure: named('descriptors'), value: last.descriptors - first.descriptors, unit: '', ...mark(few) });
      report({ figure: named('processes'), value: last.processes - first.processes, unit: '', ...mark(0) });
    }
  } finally {
    await sandbox.close();
  }
}

function toText({ memory, descriptors, processes }: Reading): string {
  return `${Math.round(memory / MB)} MB, ${descriptors} descriptors, ${processes} processes`;
}

async function gradePrograms(sandbox: Sandbox, from: number, count: number): Promise<void> {
  for (let first = from; first < from + count; first += TOGETHER) {
    const programs = Array.from({ length: Math.min(TOGETHER, from + count - first) }, (_, index) => {
      const number = first + index;
      return `# ${number}\nimport os, threading, time\ndef f(x):\n  ${BODIES[number % BODIES.length]}`;
    });
    const tests = ['assert f(1) == 2', 'assert f(2) == 3'];
    await gradeAsserts({ sandbox, programs, entryPoint: 'f', setup: '', tests, trust: 'model', stopAfter: 1 });
  }
  // What is only waiting to be collected is no growth.
  globalThis.gc?.();
}

/** First processes of our containers, as the machine numbers them. */
async function runnerPids(docker: Docker): Promise<number[]> {
  const filters = { label: ['app=qualityflow', `qualityflow.pid=${process.pid}`] };
  const containers = await docker.listContainers({ filters });
  const inspected = await Promise.all(containers.map(({ Id }) => docker.getContainer(Id).inspect()));
  return inspected.map(({ State }) => State.Pid);
}

/** Of these processes and their children together; nothing of one that cannot be read from here. */
function readingOf(pids: readonly number[]): Reading {
  const reading: Reading = { memory: 0, descriptors: 0, processes: 0 };
  for (const pid of pids) {
    try {
      reading.memory += 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
      reading.descriptors += readdirSync(`/proc/${pid}/fd`).length;
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
      reading.processes += 1 + (children === '' ? 0 : children.split(' ').length);
    } catch {
      // Another user's, or on another machine.
    }
  }
  return reading;
}
