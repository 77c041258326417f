import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { endProcesses } from '../../src/temporal/embedded/process-table.ts';
import { SEARCH_ATTRIBUTES } from '../../src/temporal/search-attributes.ts';
import { processesWith } from '../chaos/leftovers.ts';
import { onInterrupt } from './on-interrupt.ts';

/** The `temporal` binary that `qualityflow setup` placed, or the one on PATH; the suite's own first step runs the set-up. */
export function temporalBinary(): string {
  const folder = join(resolve(process.env.QUALITYFLOW_HOME ?? '.qualityflow'), 'bin');
  const cached = existsSync(folder) ? readdirSync(folder).find((name) => name.startsWith('temporal-')) : undefined;
  if (cached !== undefined) return join(folder, cached);
  try {
    return execFileSync('sh', ['-c', 'command -v temporal'], { encoding: 'utf8' }).trim();
  } catch {
    throw new Error('no temporal binary: run `npx qualityflow setup` first');
  }
}

/** One quiet runtime a process, before anything else of Temporal's: its default prints every worker's changes of state. */
export function quietRuntime(): void {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
  });
}

const devServersOn = (port: string) => processesWith(`start-dev\0--port\0${port}\0`).map(({ pid }) => pid);

/** A real dev server of this test's own, on free ports, with the product's search attributes. */
export async function startTemporal({ dbFilename }: { dbFilename?: string } = {}): Promise<TestWorkflowEnvironment> {
  quietRuntime();
  const environment = await TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: 'existing-path', path: temporalBinary() },
      searchAttributes: [...SEARCH_ATTRIBUTES],
      ui: false,
      extraArgs: ['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
      ...(dbFilename === undefined ? {} : { dbFilename }),
    },
  });
  const teardown = environment.teardown.bind(environment);
  const [, port = ''] = environment.address.split(':');
  // Not `teardown`, which complains of workers that still run; nor in peace, which it complains of itself.
  const forget = onInterrupt(() => endProcesses(devServersOn(port), 0));
  environment.teardown = async () => {
    forget();
    await teardown();
  };
  return environment;
}
