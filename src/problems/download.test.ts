import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { dataDir, withoutData } from '../../test/support/data.ts';
import { openBenchmark } from './benchmark.ts';
import { resolveDataDir } from './data-dir.ts';
import { DATASET_FILES } from './dataset-files.ts';

let home = '';
let server: Server;
let base = '';
/** What the server answers, by path; requests are counted. */
const answers = new Map<string, Buffer>();
let requests = 0;

before(async () => {
  home = await mkdtemp(join(tmpdir(), 'qualityflow-download-'));
  server = createServer((request, response) => {
    requests++;
    const body = answers.get(request.url ?? '');
    response.writeHead(body === undefined ? 404 : 200, { 'content-length': body?.length ?? 0 }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  base = typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '';
});
after(async () => {
  server.close();
  await rm(home, { recursive: true });
});

const open = (url: string) => openBenchmark({ benchmark: 'humaneval', home, download: { urls: { humaneval: url } } });
const message = (url: string) =>
  open(url).then(
    () => 'opened',
    (error: { message: string; remedy: string }) => `${error.message} ${error.remedy}`,
  );

test('a download is checked, kept, and not fetched again; a damaged copy is', { skip: withoutData }, async () => {
  const bytes = await readFile(join(dataDir ?? '', `${DATASET_FILES.humaneval.path}.gz`));
  answers.set('/HumanEval.jsonl.gz', bytes);
  const earlier = requests;
  assert.equal((await open(`${base}/HumanEval.jsonl.gz`)).size, 164);
  assert.equal((await open(`${base}/HumanEval.jsonl.gz`)).size, 164);
  assert.equal(requests - earlier, 1);
  const kept = join(home, 'data/humaneval/HumanEval.jsonl.gz');
  assert.deepEqual(await readdir(join(home, 'data/humaneval')), ['HumanEval.jsonl.gz']);
  await writeFile(kept, bytes.subarray(0, bytes.length / 2));
  assert.equal((await open(`${base}/HumanEval.jsonl.gz`)).size, 164);
  assert.equal(requests - earlier, 2);
  assert.deepEqual(await readFile(kept), bytes);
  await rm(kept);
});

test('other content, a cut-off file, a refusal and a dead server each say what to do, and leave nothing behind', async () => {
  answers.set('/other.jsonl', Buffer.from('{}\n'));
  answers.set('/cut.gz', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]));
  assert.match(await message(`${base}/other.jsonl`), /holds other data than expected.*--data-dir/);
  assert.match(await message(`${base}/cut.gz`), /is cut off/);
  assert.match(await message(`${base}/nothing`), /HTTP 404.*--data-dir/);
  assert.match(await message('http://127.0.0.1:1/x'), /Cannot download.*--data-dir/);
  assert.deepEqual(await readdir(join(home, 'data/humaneval')).catch(() => []), []);
});

test('the data folder is the flag, else the variable, else none', () => {
  assert.equal(resolveDataDir({ flag: home, env: { QUALITYFLOW_DATA_DIR: '/nowhere' } }), home);
  assert.equal(resolveDataDir({ env: { QUALITYFLOW_DATA_DIR: home } }), home);
  assert.equal(resolveDataDir({ env: { QUALITYFLOW_DATA_DIR: '' } }), undefined);
  assert.throws(
    () => resolveDataDir({ flag: join(home, 'missing'), env: {} }),
    /--data-dir names .*missing, which is no folder/,
  );
});
