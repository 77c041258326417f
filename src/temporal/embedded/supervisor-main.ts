/**
 * The detached process of the embedded default. Arguments: home, build of the command that
 * starts it, script of the worker, script of the scripted model.
 * Ends at once when another supervisor serves this home.
 */
import { chmodSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { InfrastructureError } from '../infrastructure-error.ts';
import { askSupervisor, type FailedStart, serveControl, socketPath } from './control.ts';
import { choosePorts } from './ports.ts';
import { endProcesses, serversOf } from './process-table.ts';
import { RotatingLog } from './rotating-log.ts';
import { databasePath, Supervisor } from './supervisor.ts';
import { takeLock } from './system-lock.ts';

/** A supervisor that drains holds the lock for up to half a minute. */
const LOCK_WAIT_MS = 60_000;
const HOME_CHECK_MS = 2000;

const [home = '', buildId = '', worker = '', scripted = ''] = process.argv.slice(2);
process.umask(0o077);
process.chdir(home);
const log = new RotatingLog({ path: join(home, 'logs', 'supervisor.log') });
const note = (text: string) => log.write(`${new Date().toISOString()} ${text}\n`);

try {
  if (await becomeTheOne()) await serve();
} catch (error) {
  note(`cannot start: ${error instanceof Error ? error.stack : String(error)}`);
  // Whoever has started this reads the last line.
  process.stderr.write(`${JSON.stringify(failedStart(error))}\n`);
  process.exit(1);
}

/** Takes the lock of the home, for as long as this process runs; false when another supervisor serves. */
async function becomeTheOne(): Promise<boolean> {
  const deadline = performance.now() + LOCK_WAIT_MS;
  while (performance.now() < deadline) {
    if (takeLock(join(home, 'dev.lock')) !== undefined) return true;
    try {
      if ((await askSupervisor(home, { op: 'status' })) !== undefined) return false;
    } catch (error) {
      note(`waiting for the lock: ${error instanceof Error ? error.message : String(error)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new InfrastructureError(
    `Another process holds ${join(home, 'dev.lock')} and does not answer.`,
    'If `qualityflow down` does not end it, end it by hand.',
  );
}

function failedStart(error: unknown): FailedStart {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof InfrastructureError) return { message, remedy: error.remedy };
  return { message: `The supervisor could not start: ${message}.`, remedy: `See ${log.path}.` };
}

async function serve(): Promise<void> {
  // Only the holder of the lock comes here, so whatever is left is dead, and nobody else removes or binds the socket.
  const leftBehind = serversOf(databasePath(home));
  if (leftBehind.length > 0) {
    note(`ending the Temporal server of a dead supervisor, pid ${leftBehind.join(', ')}`);
    await endProcesses(leftBehind, 5000);
  }
  const supervisor = new Supervisor({
    home,
    buildId,
    ports: await choosePorts(join(home, 'ports.json')),
    entries: { worker, scripted },
    note,
  });
  const path = socketPath(home);
  rmSync(path, { force: true });

  const server = serveControl(async (request) => {
    const state = await supervisor.handle(request);
    if (request.op === 'stop') leave();
    return state;
  });
  server.listen(path, () => {
    chmodSync(path, 0o600);
    note(`serving, pid ${process.pid}`);
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => void supervisor.stop().then(leave));
  }

  // A home that was deleted (and perhaps made anew, with a supervisor of its own) leaves nothing to serve and no way to say `down`.
  const lockFile = join(home, 'dev.lock');
  const { ino } = statSync(lockFile);
  setInterval(() => {
    if (statSync(lockFile, { throwIfNoEntry: false })?.ino !== ino) void supervisor.stop().then(() => process.exit(0));
  }, HOME_CHECK_MS);

  function leave(): void {
    note('stopped');
    // The answer to whoever asked is still on its way; the lock goes with the process.
    setTimeout(() => process.exit(0), 50);
    rmSync(path, { force: true });
  }
}

process.on('SIGHUP', () => {});
process.on('unhandledRejection', (error) => note(`unhandled: ${error instanceof Error ? error.stack : String(error)}`));
