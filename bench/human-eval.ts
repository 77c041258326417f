import { resolveDataDir } from '../src/problems/data-dir.ts';
import { projectHome } from '../src/temporal/embedded/home.ts';
import { dataDir } from '../test/support/data.ts';

/** HumanEval as the product finds it: in `QUALITYFLOW_DATA_DIR`, else downloaded. */
export function humanEvalSource() {
  return {
    benchmark: 'humaneval',
    dataDir: resolveDataDir({ flag: dataDir, env: process.env }),
    home: projectHome(process.env),
  } as const;
}
