/** The worker process of the embedded default: all roles. Its argument is JSON; its environment holds the endpoints' keys. */
import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { z } from 'zod';

import { StoreError } from '../store/store-error.ts';
import { buildId } from '../temporal/embedded/build-id.ts';

const Input = z.object({
  home: z.string(),
  buildId: z.string(),
  address: z.string(),
  namespace: z.string(),
  scriptedUrl: z.string(),
});

/** The supervisor keeps standard error as the worker's log. */
const log = (line: string) => void process.stderr.write(`${line}\n`);

const input = Input.parse(JSON.parse(process.argv[2] ?? ''));
// A worker that is started again after its files were changed would go on with other prompts and workflows than its sweep began with.
if (input.buildId !== buildId()) {
  log(
    'The program has changed since its supervisor was started: `qualityflow sweep resume NAME` goes on with the new one.',
  );
  process.exit(1);
}
// Compiling is a third of the rest of a start; imports that are to gain by it must come after this.
enableCompileCache(join(input.home, 'cache', 'node'));
const { installRuntime, ROLES } = await import('../temporal/worker.ts');
const { startWorkerProcess } = await import('./worker-process.ts');

installRuntime({ level: 'INFO', write: log });
const workers = await startWorkerProcess({ ...input, roles: ROLES, env: process.env, log });
// The supervisor waits for this line.
console.log('ready');
// Now: one that is killed writes nothing at its end.
flushCompileCache();
try {
  await workers.finished;
} catch (error) {
  if (!(error instanceof StoreError)) throw error;
  log(`${error.message} Starting again on the one that is there now.`);
  process.exit(1);
}
