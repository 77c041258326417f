import { resolveDataDir } from '../problems/data-dir.ts';
import { didYouMean } from '../spec/did-you-mean.ts';
import { externalTemporal } from '../temporal/connection.ts';
import { devStatus } from '../temporal/embedded/dev.ts';
import { prepareHome } from '../temporal/embedded/home.ts';
import type { Role } from '../temporal/worker.ts';
import { type Context, note } from './context.ts';
import { type ExitCode, UserError } from './user-error.ts';

/** Spelled out, because the worker's module loads the native part of the SDK. */
const ROLES = ['control', 'model', 'sandbox'] as const satisfies readonly Role[];

/** `worker`: serves until Ctrl-C or SIGTERM, which lets running work end first. */
export async function workerCommand(input: { context: Context; role: string; dataDir?: string }): Promise<ExitCode> {
  const { context } = input;
  const roles = rolesOf(input.role);
  const dataDir = resolveDataDir({ flag: input.dataDir, env: context.env });
  const env = dataDir === undefined ? context.env : { ...context.env, QUALITYFLOW_DATA_DIR: dataDir };
  const dev = await devStatus({ home: context.home });
  if (externalTemporal(context.env) === undefined && dev?.state !== 'running') {
    throw new UserError({
      message: 'There is no Temporal server to work for',
      remedy:
        'Set TEMPORAL_ADDRESS to a cluster, or start the embedded one by `qualityflow dev` (which brings a worker of its own)',
      exitCode: 3,
    });
  }
  const log = (line: string) => note(context, line);
  const home = prepareHome(context.home);
  const { installRuntime } = await import('../temporal/worker.ts');
  installRuntime({ level: context.verbose === true ? 'INFO' : 'ERROR', write: log });
  const { startWorkerProcess } = await import('../activities/worker-process.ts');
  const workers = await startWorkerProcess({
    roles,
    env,
    home,
    address: dev?.address ?? '',
    namespace: dev?.namespace ?? 'default',
    scriptedUrl: dev?.scriptedUrl,
    log,
  });
  note(context, `Serving ${roles.join(', ')}. Ctrl-C drains and stops.`);
  await workers.finished;
  return 0;
}

function rolesOf(text: string): Role[] {
  const names = text.split(',').map((name) => name.trim());
  return names.map((name) => {
    const role = ROLES.find((known) => known === name);
    if (role !== undefined) return role;
    throw new UserError({
      message: `There is no role ${JSON.stringify(name)}${didYouMean(name, ROLES)}`,
      remedy: `Roles are ${ROLES.join(', ')}, several with commas`,
      exitCode: 2,
    });
  });
}
