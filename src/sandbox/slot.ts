import type Docker from 'dockerode';
import { z } from 'zod';
import { dockerStreamReader, type RunnerFrame, requestFrame, runnerReader } from './frames.ts';
import { ownerLabels } from './owner.ts';
import { SandboxError } from './sandbox.ts';
import { removeContainer } from './sweeper.ts';
import { messageOf, within } from './within.ts';

/** Room in the container beside a program's own limit: the runner, its buffers and the 64 MB of /tmp. */
const OVERHEAD_BYTES = 256 << 20;
const LEASE_SECONDS = 60;
const PING_MS = 10_000;
/** Counted, not timed: a laptop that slept must not lose its containers. */
const MAX_UNANSWERED_PINGS = 6;
const START_MS = 60_000;

interface SlotOptions {
  docker: Docker;
  imageId: string;
  role: string;
  /** Of the engine's runtimes; its own choice without. */
  runtime?: string | undefined;
  /** What one program in it may use. */
  memoryBytes: number;
}

/** The container ended or fell silent. Whatever ran in it has no result. */
export class SlotLost extends SandboxError {
  override name = 'SlotLost';
}

const controlMessage = z.object({
  ready: z.boolean().optional(),
  pong: z.boolean().optional(),
  done: z.boolean().optional(),
  recycle: z.string().nullish(),
});

/** `request` is for PID 1; `payload` (sources, inputs) only for the job's own processes, so that no later program finds it. */
export interface RunnerJob {
  request: object;
  payload?: Buffer | undefined;
}

/** One warm container, one request at a time. Opened by `openSlot`; gone after `close`, after a loss, or with this process. */
export interface Slot {
  readonly memoryBytes: number;
  /** False once it must not be given another job. */
  readonly usable: boolean;
  /** Sends one job and hands over the runner's frames up to its "done". Throws `SlotLost`. `recycled`: the container gave itself up afterwards. */
  run(job: RunnerJob, onFrame: (frame: RunnerFrame) => void): Promise<{ recycled: boolean }>;
  close(): Promise<void>;
}

interface Job {
  onFrame: (frame: RunnerFrame) => void;
  resolve: (end: { recycled: boolean }) => void;
  reject: (error: Error) => void;
}

export async function openSlot(options: SlotOptions): Promise<Slot> {
  const { docker, memoryBytes } = options;
  const container = await within(
    { ms: START_MS, what: 'creating a sandbox container' },
    docker.createContainer(containerOptions(options)),
  );
  let job: Job | undefined;
  let lost: SlotLost | undefined;
  let complaint = '';
  let unanswered = 0;
  let closing: Promise<void> | undefined;
  let pinger: NodeJS.Timeout | undefined;
  let stream: NodeJS.ReadWriteStream | undefined;
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => undefined);

  const close = (): Promise<void> => {
    lose('it was closed');
    return closing ?? Promise.resolve();
  };
  const lose = (reason: string): void => {
    if (lost !== undefined) return;
    lost = new SlotLost(
      `a sandbox container was lost: ${reason}${complaint === '' ? '' : ` (${complaint.trim().split('\n').at(-1)})`}`,
    );
    clearInterval(pinger);
    stream?.end();
    closing = removeContainer({ docker, id: container.id }).finally(() => {
      // A daemon that hangs would hold the connection, and it this process.
      if (stream !== undefined && 'destroy' in stream && typeof stream.destroy === 'function') stream.destroy();
    });
    // Awaited by close(); here only kept from being an unhandled rejection.
    closing.catch(() => undefined);
    ready.reject(lost);
    job?.reject(lost);
    job = undefined;
  };
  const finish = (recycled: boolean): void => {
    const done = job;
    job = undefined;
    if (recycled) lose('it gave itself up');
    done?.resolve({ recycled });
  };
  const onControl = (body: Buffer): void => {
    const message = controlMessage.parse(JSON.parse(body.toString('utf8')));
    if (message.ready === true) ready.resolve();
    else if (message.pong === true) unanswered = 0;
    else if (message.done === true) finish(typeof message.recycle === 'string');
  };
  const frames = runnerReader((frame) => {
    if (frame.tag === 'J') onControl(frame.body);
    job?.onFrame(frame);
  });
  const output = dockerStreamReader((name, data) => {
    if (name === 'stderr') complaint = (complaint + data.toString('latin1')).slice(-1000);
    else frames.push(data);
  });

  try {
    const attached = await within(
      { ms: START_MS, what: 'attaching to a sandbox container' },
      container.attach({ stream: true, hijack: true, stdin: true, stdout: true, stderr: true }),
    );
    stream = attached;
    attached.on('data', (chunk: Buffer) => {
      try {
        output.push(chunk);
      } catch (error) {
        lose(`its answer could not be read: ${messageOf(error)}`);
      }
    });
    attached.on('end', () => lose('it ended'));
    attached.on('close', () => lose('it ended'));
    attached.on('error', (error) => lose(messageOf(error)));
    await within({ ms: START_MS, what: 'starting a sandbox container' }, container.start());
    await within({ ms: START_MS, what: 'waiting for a sandbox container' }, ready.promise);
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
  const connected = stream;
  pinger = setInterval(() => {
    if (unanswered >= MAX_UNANSWERED_PINGS) return lose('it did not answer');
    unanswered++;
    connected.write(requestFrame({ op: 'ping' }));
  }, PING_MS);
  pinger.unref();

  return {
    memoryBytes,
    get usable() {
      return lost === undefined;
    },
    run({ request, payload }, onFrame) {
      if (lost !== undefined) return Promise.reject(lost);
      if (job !== undefined) return Promise.reject(new SandboxError('a slot takes one job at a time'));
      return new Promise((resolve, reject) => {
        const frame = requestFrame(request, payload);
        job = { onFrame, resolve, reject };
        connected.write(frame);
      });
    },
    close,
  };
}

function containerOptions({ imageId, role, runtime, memoryBytes }: SlotOptions): Docker.ContainerCreateOptions {
  const memory = memoryBytes + OVERHEAD_BYTES;
  return {
    Image: imageId,
    User: '65534:65534',
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Tty: false,
    NetworkDisabled: true,
    // PID 1 is shielded from SIGTERM.
    StopSignal: 'SIGKILL',
    Labels: ownerLabels(role),
    Env: [
      'PYTHONHASHSEED=0',
      'HOME=/tmp',
      'LANG=C.UTF-8',
      'TZ=UTC',
      // Many threads would meet the pids limit on machines with many cores.
      'OPENBLAS_NUM_THREADS=1',
      'OMP_NUM_THREADS=1',
      `QF_LEASE_SECONDS=${LEASE_SECONDS}`,
    ],
    HostConfig: {
      ...(runtime === undefined ? {} : { Runtime: runtime }),
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      Tmpfs: { '/tmp': 'rw,noexec,nosuid,nodev,size=64m,nr_inodes=4096,mode=1777' },
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      PidsLimit: 64,
      Memory: memory,
      MemorySwap: memory,
      NanoCpus: 1e9,
      // 'none' also leaves out /dev/shm, a second writable place.
      IpcMode: 'none',
      Init: false,
      AutoRemove: true,
      LogConfig: { Type: 'none', Config: {} },
      Ulimits: [
        { Name: 'nofile', Soft: 256, Hard: 256 },
        { Name: 'core', Soft: 0, Hard: 0 },
      ],
    },
  };
}
