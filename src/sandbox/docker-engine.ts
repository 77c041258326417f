import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { z } from 'zod';
import { SandboxError } from './sandbox.ts';
import { messageOf, within } from './within.ts';

type Environment = Record<string, string | undefined>;

/**
 * A client of the engine that `docker` itself would use: `DOCKER_HOST`, else the current context (`DOCKER_CONTEXT`, or the one in the
 * client's configuration), else the first of the usual sockets that exists. Does not connect; throws `SandboxError` on a setting that cannot be used.
 */
export function connectDocker({ env }: { env: Environment }): Docker {
  const host = env.DOCKER_HOST;
  if (host !== undefined && host !== '') {
    const tls = env.DOCKER_TLS_VERIFY !== undefined && env.DOCKER_TLS_VERIFY !== '' ? env.DOCKER_CERT_PATH : undefined;
    return new Docker(optionsOf({ host, certificates: tls, source: 'DOCKER_HOST' }));
  }
  const context = currentContext(env);
  if (context !== undefined) return new Docker(optionsOf({ ...context, source: 'the Docker context' }));
  return new Docker({ socketPath: usualSockets(env).find(isSocket) ?? '/var/run/docker.sock' });
}

export type DockerStatus =
  | { ok: true; version: string; cgroup: string }
  /** `denied`: it is there, and not for this user. */
  | { ok: false; problem: string; remedy: string; denied?: true };

/** Whether an engine answers, and what it is; never throws. */
export async function dockerStatus({ docker }: { docker: Docker }): Promise<DockerStatus> {
  try {
    const info: unknown = await within({ ms: 10_000, what: 'engine information' }, docker.info());
    const { ServerVersion, CgroupVersion, OSType } = z
      .object({
        ServerVersion: z.string(),
        CgroupVersion: z.string().default('1'),
        OSType: z.string().default('linux'),
      })
      .parse(info);
    if (OSType !== 'linux') {
      return {
        ok: false,
        problem: `the Docker engine runs ${OSType} containers`,
        remedy: 'switch it to Linux containers',
      };
    }
    return { ok: true, version: ServerVersion, cgroup: `v${CgroupVersion}` };
  } catch (error) {
    const reason = messageOf(error).replace(/^engine information: /, '');
    if (/EACCES|EPERM|permission denied/i.test(reason)) {
      const remedy = 'add your user to the group `docker`, or run as root';
      return { ok: false, problem: `this user may not use the Docker engine: ${reason}`, remedy, denied: true };
    }
    const remedy = 'start Docker, or set DOCKER_HOST to an engine that runs';
    return { ok: false, problem: `there is no Docker engine: ${reason}`, remedy };
  }
}

function usualSockets(env: Environment): string[] {
  const home = env.HOME ?? homedir();
  const runtime = env.XDG_RUNTIME_DIR;
  return [
    '/var/run/docker.sock',
    ...(runtime === undefined ? [] : [join(runtime, 'docker.sock')]),
    join(home, '.docker/run/docker.sock'),
    join(home, '.colima/default/docker.sock'),
    join(home, '.colima/docker.sock'),
    join(home, '.orbstack/run/docker.sock'),
    join(home, '.rd/docker.sock'),
    ...(runtime === undefined ? [] : [join(runtime, 'podman/podman.sock')]),
    '/run/podman/podman.sock',
  ];
}

function isSocket(path: string): boolean {
  try {
    return statSync(path).isSocket();
  } catch {
    return false;
  }
}

interface Endpoint {
  host: string;
  /** Folder with ca.pem, cert.pem and key.pem. */
  certificates: string | undefined;
}

const clientConfig = z.object({ currentContext: z.string().optional() });
const contextMeta = z.object({ Endpoints: z.object({ docker: z.object({ Host: z.string() }) }) });

/** Contexts lie in folders named by the sha256 of the context's name. */
function currentContext(env: Environment): Endpoint | undefined {
  const folder = env.DOCKER_CONFIG ?? join(env.HOME ?? homedir(), '.docker');
  const name = env.DOCKER_CONTEXT || readJson(join(folder, 'config.json'), clientConfig)?.currentContext;
  if (name === undefined || name === '' || name === 'default') return undefined;
  const digest = createHash('sha256').update(name).digest('hex');
  const meta = readJson(join(folder, 'contexts/meta', digest, 'meta.json'), contextMeta);
  if (meta === undefined) {
    throw new SandboxError(
      `the Docker context ${JSON.stringify(name)} does not exist: choose another by \`docker context use\``,
    );
  }
  const certificates = join(folder, 'contexts/tls', digest, 'docker');
  return {
    host: meta.Endpoints.docker.Host,
    certificates: isFile(join(certificates, 'cert.pem')) ? certificates : undefined,
  };
}

function readJson<T>(path: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function optionsOf({ host, certificates, source }: Endpoint & { source: string }): Docker.DockerOptions {
  if (host.startsWith('unix://')) return { socketPath: host.slice('unix://'.length) };
  if (host.startsWith('npipe://')) return { socketPath: host.slice('npipe://'.length) };
  if (host.startsWith('/')) return { socketPath: host };
  let url: URL;
  try {
    url = new URL(host.includes('://') ? host : `tcp://${host}`);
  } catch {
    throw new SandboxError(
      `${source} is ${JSON.stringify(host)}: expected unix:///path, tcp://host:port or ssh://user@host`,
    );
  }
  if (url.protocol === 'ssh:') {
    const port = url.port === '' ? 22 : Number(url.port);
    return { protocol: 'ssh', host: url.hostname, port, ...(url.username === '' ? {} : { username: url.username }) };
  }
  const port = url.port === '' ? (certificates === undefined ? 2375 : 2376) : Number(url.port);
  if (certificates === undefined) return { protocol: 'http', host: url.hostname, port };
  const pem = (name: string) => readFileSync(join(certificates, name));
  return { protocol: 'https', host: url.hostname, port, ca: pem('ca.pem'), cert: pem('cert.pem'), key: pem('key.pem') };
}
