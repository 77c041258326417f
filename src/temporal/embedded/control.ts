/**
 * The supervisor's socket: one request, one answer, each a line of JSON. Everything secret travels here and nowhere else, so the
 * socket belongs to its owner alone.
 */
import { openSync, readFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { InfrastructureError } from '../infrastructure-error.ts';

const Environment = z.record(z.string(), z.string());

export const ControlRequest = z.discriminatedUnion('op', [
  z.object({ op: z.literal('status') }),
  z.object({ op: z.literal('stop') }),
  /**
   * Brings everything up with this environment: see `mergeWorkerEnv`. A worker that would need another one is restarted, unless
   * `running` names sweeps that it serves: then the request is refused. `onlyWhenIdle`: a worker that runs is good as it is.
   */
  z.object({
    op: z.literal('configure'),
    env: Environment,
    temporalPath: z.string().nullable(),
    running: z.array(z.string()),
    onlyWhenIdle: z.boolean(),
  }),
]);
export type ControlRequest = z.infer<typeof ControlRequest>;

const ProcessInfo = z.object({ pid: z.int(), startedAt: z.string() });

export const DevState = z.object({
  state: z.enum(['idle', 'running', 'stopping']),
  buildId: z.string(),
  address: z.string(),
  namespace: z.string(),
  /** Empty when the cluster is not ours. */
  uiUrl: z.string(),
  scriptedUrl: z.string(),
  processes: z.record(z.string(), ProcessInfo),
  /** Unplanned ends of children since the supervisor started. */
  restarts: z.int(),
  /** A supervisor of an older build does not say it. */
  storage: z.enum(['file', 'memory']).default('file'),
});
export type DevState = z.infer<typeof DevState>;

const Answer = z.union([
  z.object({ ok: z.literal(true), state: DevState }),
  z.object({ ok: z.literal(false), message: z.string(), remedy: z.string() }),
]);
type Answer = z.infer<typeof Answer>;

/** The last line of a supervisor that could not start, as JSON. */
export const FailedStart = z.object({ message: z.string(), remedy: z.string() });
export type FailedStart = z.infer<typeof FailedStart>;

/** The bytes that every system's socket address can hold, with room for the terminating NUL. */
const MAX_SOCKET_PATH = 100;

/**
 * How long an answer may take, in ms. `status` waits for nothing, so its silence means a process that is stopped or stuck; `stop`
 * drains the worker and the server; `configure` may do that too and start both, three times at worst.
 */
const ANSWER_MS = { status: 10_000, stop: 60_000, configure: 300_000 } as const;

/** Open for as long as the process runs. */
const descriptors = new Map<string, number>();

/** A way to name `<home>/dev.sock` that fits into a socket address, which holds about a hundred bytes. */
export function socketPath(home: string): string {
  const absolute = join(home, 'dev.sock');
  const short = [absolute, relative(process.cwd(), absolute)].find(
    (path) => Buffer.byteLength(path) <= MAX_SOCKET_PATH,
  );
  if (short !== undefined) return short;
  if (process.platform === 'linux') {
    const descriptor = descriptors.get(home) ?? openSync(home, 'r');
    descriptors.set(home, descriptor);
    return `/proc/self/fd/${descriptor}/dev.sock`;
  }
  throw new InfrastructureError(
    `The path ${home} is too long for a socket in it.`,
    'Set QUALITYFLOW_HOME to a folder with a shorter path.',
  );
}

/** Asks the supervisor; undefined when none listens. Throws `InfrastructureError` when it refuses or is silent for `withinMs`. */
export async function askSupervisor(
  home: string,
  request: ControlRequest,
  withinMs: number = ANSWER_MS[request.op],
): Promise<DevState | undefined> {
  const line = await exchange(socketPath(home), `${JSON.stringify(request)}\n`, withinMs);
  if (line === 'late') throw silent(home, withinMs);
  if (line === undefined || line === '') return undefined;
  const answer = Answer.parse(JSON.parse(line));
  if (answer.ok) return answer.state;
  throw new InfrastructureError(answer.message, answer.remedy);
}

/** Of a supervisor that holds its socket open and says nothing. */
export function silent(home: string, withinMs: number): InfrastructureError {
  const pid = supervisorPid(home);
  const remedy =
    pid === undefined
      ? `See ${join(home, 'logs', 'supervisor.log')}.`
      : `If it was stopped (Ctrl-Z), wake it by \`kill -CONT ${pid}\`; otherwise \`kill -9 ${pid}\` ends it, and the next command starts another.`;
  const who = pid === undefined ? 'The supervisor' : `The supervisor (pid ${pid})`;
  return new InfrastructureError(`${who} does not answer within ${withinMs / 1000} s.`, remedy);
}

/** As it wrote itself down when it last could. */
function supervisorPid(home: string): number | undefined {
  try {
    return DevState.parse(JSON.parse(readFileSync(join(home, 'dev.json'), 'utf8'))).processes.supervisor?.pid;
  } catch {
    return undefined;
  }
}

function exchange(path: string, request: string, withinMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(path);
    const timer = setTimeout(() => {
      resolve('late');
      socket.destroy();
    }, withinMs);
    socket.setEncoding('utf8');
    socket.on('connect', () => socket.write(request));
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => resolve(undefined));
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(text);
    });
  });
}

/** Answers requests one connection each; a request that cannot be read is answered with what is wrong. */
export function serveControl(handle: (request: ControlRequest) => Promise<DevState>): Server {
  // `allowHalfOpen`: an answer may take a minute, and the asker may have nothing more to say.
  return createServer({ allowHalfOpen: true }, (socket) => {
    let text = '';
    socket.setEncoding('utf8');
    socket.on('error', () => {});
    socket.on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end >= 0) {
        socket.pause();
        void answer(text.slice(0, end)).then((reply) => socket.end(`${JSON.stringify(reply)}\n`));
      } else if (text.length > 1 << 20) {
        socket.destroy();
      }
    });
    socket.on('end', () => {
      if (!text.includes('\n')) socket.end();
    });
  });

  async function answer(line: string): Promise<Answer> {
    try {
      return { ok: true, state: await handle(ControlRequest.parse(JSON.parse(line))) };
    } catch (error) {
      if (error instanceof InfrastructureError) return { ok: false, message: error.message, remedy: error.remedy };
      const message = error instanceof Error ? error.message : String(error);
      return { ok: false, message, remedy: 'See supervisor.log in the logs folder of the project state.' };
    }
  }
}
