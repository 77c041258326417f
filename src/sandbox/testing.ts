import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectDocker, dockerStatus } from './docker-engine.ts';
import { createDockerSandbox } from './docker-sandbox.ts';
import { ensureSandboxImage } from './image.ts';
import { DEFAULT_LIMITS, type OutputRow, type Sandbox, type SandboxLimits } from './sandbox.ts';

export const docker = connectDocker({ env: process.env });
const status = await dockerStatus({ docker });
/** For `test(name, { skip: withoutDocker }, …)`: skips with the reason. */
export const withoutDocker: string | false = status.ok ? false : `${status.problem}: ${status.remedy}`;

let image: Promise<string> | undefined;

/** Id of the sandbox image, made when it is not there. */
export function sandboxImage(): Promise<string> {
  image ??= (async () => {
    const home = process.env.QUALITYFLOW_HOME ?? (await mkdtemp(join(tmpdir(), 'qualityflow-test-')));
    return (await ensureSandboxImage({ docker, home, log: () => undefined })).imageId;
  })();
  return image;
}

export async function testSandbox(): Promise<Sandbox> {
  return createDockerSandbox({ docker, imageId: await sandboxImage(), slots: 2 });
}

export const TEST_LIMITS: SandboxLimits = { ...DEFAULT_LIMITS, cpuSeconds: 1 };

/** One call with positional arguments that are given as encoded values: `call('1', '"a"')`. */
export function call(...args: string[]): string {
  return `[[${args.join(',')}],{"d":[]}]`;
}

/** Rows of one program that defines `f`, called with each of the encoded arguments. */
export async function rowsOf(
  sandbox: Sandbox,
  source: string,
  args: string[],
  options: { limits?: Partial<SandboxLimits>; stopAfter?: number; entryPoint?: string; signal?: AbortSignal } = {},
): Promise<OutputRow[]> {
  const [rows] = await sandbox.runCalls({
    programs: [{ source, entryPoint: options.entryPoint ?? 'f' }],
    calls: args.map((arg) => call(arg)),
    limits: { ...TEST_LIMITS, ...options.limits },
    stopAfter: options.stopAfter,
    signal: options.signal,
  });
  return rows ?? [];
}

/** Containers of this process, running or not. */
export async function ownContainers(pid = process.pid): Promise<string[]> {
  const found = await docker.listContainers({ all: true, filters: { label: [`qualityflow.pid=${pid}`] } });
  return found.map(({ Id }) => Id);
}
