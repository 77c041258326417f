import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

/**
 * Loads what a sweep's command and worker load, so that not even the first of them has to compile it: both keep it in the state folder
 * (`bin/qualityflow.mjs`, `worker-main.ts`), which may not have been there when this process began.
 */
export async function compileAhead(home: string): Promise<void> {
  enableCompileCache(join(home, 'cache', 'node'));
  await Promise.all([import('./sweep-run.ts'), import('../activities/worker-process.ts')]);
}
