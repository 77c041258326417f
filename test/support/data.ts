import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

const neighbour = resolve(import.meta.dirname, '../../../shared/data');

/** Folder with the public benchmarks, or undefined: tests that need one pass `skip: withoutData` and so skip with a reason. */
export const dataDir: string | undefined =
  process.env.QUALITYFLOW_DATA_DIR ?? (existsSync(neighbour) ? neighbour : undefined);

export const withoutData: string | false =
  dataDir === undefined ? 'no benchmark data: set QUALITYFLOW_DATA_DIR' : false;
