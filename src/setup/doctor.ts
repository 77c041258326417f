/** `qualityflow doctor`: looks at everything that a sweep needs, changes nothing, and proves the grader. */
import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { readCertificates } from '../evaluation/certificates.ts';
import { proveGrader } from '../grading/known-pair.ts';
import { resolveEndpoint } from '../models/endpoints.ts';
import { resolveDataDir } from '../problems/data-dir.ts';
import { connectDocker } from '../sandbox/docker-engine.ts';
import { createDockerSandbox } from '../sandbox/docker-sandbox.ts';
import { ensureSandboxImage } from '../sandbox/image.ts';
import { chosenRuntime } from '../sandbox/runtime.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { connectClient, type Env, externalTemporal, temporalSettings } from '../temporal/connection.ts';
import { devStatus } from '../temporal/embedded/dev.ts';
import { findTemporalBinary, TEMPORAL_VERSION } from '../temporal/embedded/temporal-binary.ts';
import { missingSearchAttributes, namespaceRetentionHours, RETENTION_HOURS } from '../temporal/namespace.ts';
import { engineStatus } from './docker.ts';

export interface Check {
  name: string;
  state: 'ok' | 'warn' | 'fail';
  detail: string;
  remedy?: string | undefined;
}

type Finding = Omit<Check, 'name'>;

/** Each check by itself: one that cannot be made is a failure with its reason. In order; a sweep works when none of them is `fail`. */
export async function runDoctor({
  home,
  env = process.env,
}: {
  home: string;
  env?: Env | undefined;
}): Promise<Check[]> {
  const checks: Check[] = [];
  const check = async (name: string, look: () => Finding | Promise<Finding>) => {
    try {
      checks.push({ name, ...(await look()) });
    } catch (error) {
      const remedy =
        error instanceof Error && 'remedy' in error && typeof error.remedy === 'string' ? error.remedy : undefined;
      checks.push({ name, state: 'fail', detail: error instanceof Error ? error.message : String(error), remedy });
    }
    return checks.at(-1)?.state !== 'fail';
  };

  await check('node', checkNode);
  if (externalTemporal(env) === undefined) await check('temporal program', () => checkProgram(home, env));
  await check('temporal server', () => checkServer(home, env));
  if ((await check('docker', () => checkDocker(env))) && (await check('sandbox image', () => checkImage(env)))) {
    const opened: Sandbox[] = [];
    try {
      await check('sandbox', async () => {
        const sandbox = await openSandbox(home, env);
        opened.push(sandbox);
        const { python, numpy, imageId } = await sandbox.fingerprint();
        return { state: 'ok', detail: `Python ${python}, numpy ${numpy}, image ${imageId.slice(0, 19)}` };
      });
      for (const sandbox of opened) {
        await check('grader', () => checkGrader(sandbox));
        await check('certificates', () => checkCertificates(home, sandbox));
      }
    } finally {
      await Promise.all(opened.map((sandbox) => sandbox.close()));
    }
  }
  await check('data', () => checkData(env));
  await check('endpoint', () => checkEndpoint(env));
  await check('disk', () => checkDisk(home));
  return checks;
}

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const enough = major > 22 || (major === 22 && minor >= 18);
  return {
    state: enough ? 'ok' : 'fail',
    detail: process.version,
    remedy: enough ? undefined : 'Use Node.js 22.18 or newer.',
  };
}

async function checkProgram(home: string, env: Env): Promise<Finding> {
  const found = await findTemporalBinary({ home, env });
  if (found === undefined) return { state: 'fail', detail: 'not there', remedy: 'Run `qualityflow setup`.' };
  const detail = `${found.version} at ${found.path}`;
  if (found.version === TEMPORAL_VERSION) return { state: 'ok', detail };
  return { state: 'warn', detail, remedy: `This version is not the tested one, ${TEMPORAL_VERSION}.` };
}

async function checkServer(home: string, env: Env): Promise<Finding> {
  const dev = await devStatus({ home });
  if (externalTemporal(env) === undefined && dev === undefined) {
    return { state: 'ok', detail: 'not running; `qualityflow dev` and `sweep run` start it' };
  }
  const settings = temporalSettings({ env, address: dev?.address ?? '', namespace: dev?.namespace ?? 'default' });
  const { connection } = await connectClient(settings);
  try {
    const hours = await namespaceRetentionHours(connection, settings.namespace);
    const missing = await missingSearchAttributes(connection, settings.namespace);
    const detail = `${settings.connectionOptions.address}, namespace ${settings.namespace} keeps closed runs for ${hours / 24} days`;
    if (missing.length > 0) {
      return {
        state: 'fail',
        detail: `${detail}; search attributes missing: ${missing.join(', ')}`,
        remedy: 'Run `qualityflow dev`, which registers them.',
      };
    }
    if (hours >= RETENTION_HOURS) return { state: 'ok', detail };
    const remedy = `Older runs vanish from Temporal UI: \`temporal operator namespace update -n ${settings.namespace} --retention ${RETENTION_HOURS}h\`.`;
    return { state: 'warn', detail, remedy };
  } finally {
    await connection.close();
  }
}

async function checkDocker(env: Env): Promise<Finding> {
  const status = await engineStatus(env);
  const runtime = status.ok ? await chosenRuntime({ docker: connectDocker({ env }), env }) : undefined;
  if (status.ok)
    return {
      state: 'ok',
      detail: `engine ${status.version}, cgroup ${status.cgroup}${runtime === undefined ? '' : `, runtime ${runtime}`}`,
    };
  return { state: 'fail', detail: status.problem, remedy: `${status.remedy}, or run \`qualityflow setup\`.` };
}

async function checkImage(env: Env): Promise<Finding> {
  const images = await connectDocker({ env }).listImages({ filters: { reference: ['qualityflow-sandbox'] } });
  const tags = images.flatMap(({ RepoTags }) => RepoTags ?? []);
  if (tags.length === 0) return { state: 'fail', detail: 'not there', remedy: 'Run `qualityflow setup`.' };
  return { state: 'ok', detail: tags.length === 1 ? (tags[0] ?? '') : `${tags.length} versions` };
}

/** The image exists in some version: at most our few files are built on it, within seconds. */
async function openSandbox(home: string, env: Env): Promise<Sandbox> {
  const docker = connectDocker({ env });
  const runtime = await chosenRuntime({ docker, env });
  const { imageId } = await ensureSandboxImage({ docker, home, log: () => {} });
  return createDockerSandbox({ docker, imageId, runtime, slots: 1 });
}

async function checkGrader(sandbox: Sandbox): Promise<Finding> {
  const proof = await proveGrader({ sandbox });
  if (proof.kind === 'ok') return { state: 'ok', detail: 'a right program passes, known-wrong ones do not' };
  return {
    state: 'fail',
    detail: proof.reason,
    remedy: 'Grade nothing with this sandbox; build its image anew with `qualityflow setup`.',
  };
}

/** What `doctor --certify` has found out in this very environment. None is no fault: sweeps say so. */
async function checkCertificates(home: string, sandbox: Sandbox): Promise<Finding> {
  const { imageId } = await sandbox.fingerprint();
  const found = [...readCertificates({ home }).values()].filter((certificate) => certificate.imageId === imageId);
  const remedy = 'Run `qualityflow doctor --certify`: canonical solutions must pass, and mutants of them must not.';
  if (found.length === 0) return { state: 'warn', detail: 'no benchmark is certified with this image', remedy };
  const each = found.map(
    ({ benchmark, datasetSha256, certifiedAt }) =>
      `${benchmark} (data ${datasetSha256.slice(0, 12)}, ${certifiedAt.slice(0, 10)})`,
  );
  return { state: 'ok', detail: [...new Set(each)].join(', ') };
}

function checkData(env: Env): Finding {
  const folder = resolveDataDir({ env });
  if (folder !== undefined) return { state: 'ok', detail: folder };
  return { state: 'ok', detail: 'QUALITYFLOW_DATA_DIR is not set: benchmarks are downloaded when named' };
}

/** Says whether there is a key, never what it is. */
function checkEndpoint(env: Env): Finding {
  const { baseURL, scripted, apiKey, keyEnv } = resolveEndpoint({ endpoint: 'default', env });
  if (scripted) {
    return {
      state: 'ok',
      detail:
        'OPENAI_BASE_URL and OPENAI_API_KEY are not set: only the offline model `scripted` can be asked, and a sweep of any other is refused',
    };
  }
  const detail = `${baseURL}, key in ${keyEnv}: ${apiKey === undefined ? 'no' : 'yes'}`;
  const remote = apiKey === undefined && !/^https?:\/\/(localhost|127\.|\[::1\])/.test(baseURL ?? '');
  return remote ? { state: 'warn', detail, remedy: `If it needs a key, set ${keyEnv}.` } : { state: 'ok', detail };
}

const GB = 1e9;

function checkDisk(home: string): Finding {
  let folder = home;
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const detail = `${(free / GB).toFixed(1)} GB free at ${folder}`;
  if (free >= 5 * GB) return { state: 'ok', detail };
  return {
    state: free < GB ? 'fail' : 'warn',
    detail,
    remedy: 'Free some space: set-up takes about 1 GB, and a large sweep some more.',
  };
}
