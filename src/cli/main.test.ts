import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { after, test } from 'node:test';
import { parseSpecValue } from '../spec/parse-spec.ts';
import { openStore } from '../store/open-store.ts';
import type { Context } from './context.ts';
import { main } from './main.ts';

const folder = mkdtempSync(join(tmpdir(), 'qualityflow-cli-'));
after(() => rmSync(folder, { recursive: true, force: true }));

class Captured extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

async function run(
  argv: string[],
  env: Record<string, string> = {},
  home = 'state',
): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const stdout = new Captured();
  const stderr = new Captured();
  const context: Context = {
    stdout,
    stderr,
    interactive: false,
    env: { PATH: process.env.PATH, ...env },
    cwd: folder,
    home: join(folder, home),
    onInterrupt: () => () => {},
  };
  const exitCode = await main(argv, context);
  return { exitCode, stdout: stdout.text, stderr: stderr.text };
}

const dryRun = ['sweep', 'run', '--benchmark', 'mini', '--model', 'scripted', '--endpoint', 'scripted', '--dry-run'];

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const task = (id: string, more: Record<string, unknown> = {}) =>
  `${JSON.stringify({ task_id: id, entry_point: 'f', prompt: 'Write f.', hidden_tests: ['assert f() == 1'], ...more })}\n`;

const sample = '{"task_id": "HumanEval/0", "completion": ""}\n';

/** Each row: what is wrong, the command line, the exit code, and words of the message. */
const badInput: [string, string[], number, RegExp][] = [
  ['no command', [], 2, /Usage: qualityflow/],
  ['unknown command', ['swep'], 2, /Unknown command 'swep'.*\n.*Did you mean sweep\?/],
  ['a command of sweep', ['list'], 2, /^error: Unknown command 'list'\.\nDid you mean `sweep list`\?\n$/],
  ['a command of sweep with more', ['resume', 'x', '--detach'], 2, /Did you mean `sweep resume`\?/],
  ['unknown command before --help', ['up', '--help'], 2, /^error: Unknown command 'up'/],
  ['unknown subcommand before --help', ['sweep', 'rnu', '--help'], 2, /Unknown command 'rnu'\.\nDid you mean run\?/],
  ['unknown outcome', ['report', 'x', '--outcome', 'pass,rwong'], 2, /no outcome "rwong"; did you mean "wrong"/],
  ['--problems under two names', [...dryRun, '--problems', '3', '--concurrency', '4'], 2, /cannot be used with/],
  ['unknown subcommand', ['sweep', 'rnu'], 2, /Unknown command 'rnu'/],
  ['unknown option', [...dryRun, '--lmit', '3'], 2, /Unknown option '--lmit'.*\n.*Did you mean --limit\?/],
  ['option without its value', ['sweep', 'run', '--benchmark'], 2, /argument missing/],
  ['argument missing', ['show'], 2, /issing required argument 'name'/],
  ['nothing to run', ['sweep', 'run'], 2, /nothing to run/],
  ['no spec file', ['sweep', 'run', 'none.yaml'], 2, /no spec file/],
  ['spec file that is a folder', ['sweep', 'run', '.'], 2, /cannot be read/],
  ['invalid YAML', ['sweep', 'run', file('bad.yaml', 'name: [a\n')], 2, /line 2: the file is not valid YAML/],
  ['binary spec', ['sweep', 'run', file('binary.yaml', Buffer.from([0, 255, 1]))], 2, /binary\.yaml/],
  ['empty spec', ['sweep', 'run', file('empty.yaml', '')], 2, /must be a mapping/],
  [
    'several errors at once',
    ['sweep', 'run', file('many.yaml', 'name: A\nbenchmark: mni\nstrategy: fast\nmodel: m\nlimt: 1\n')],
    2,
    /4 problems:\n.*line 1: name.*\n.*line 2: benchmark.*did you mean "mini".*\n.*line 3: strategy.*\n.*line 5: limt/,
  ],
  ['unknown benchmark', ['sweep', 'run', '--benchmark', 'humanevel', '--model', 'm'], 2, /did you mean "humaneval"/],
  [
    'unknown task',
    [...dryRun, '--task', 'mini/word-count'],
    2,
    /no task "mini\/word-count"\.\nDid you mean "mini\/word-counts"/,
  ],
  [
    'no own file',
    ['sweep', 'run', '--benchmark', 'own.jsonl', '--model', 'm', '--endpoint', 'scripted', '--dry-run'],
    2,
    /no file/,
  ],
  ...[
    ['abc', /model\.parameters\.max_tokens must be a whole number from 1 to 1000000, not "abc"/],
    ['-5', /max_tokens must be a whole number from 1 to 1000000, not -5/],
    ['', /max_tokens must be a whole number/],
  ].flatMap(([value, words]): [string, string[], number, RegExp][] => [
    [`--max-tokens=${value}`, [...dryRun, `--max-tokens=${value}`], 2, words instanceof RegExp ? words : /^$/],
    [
      `solve with --max-tokens=${value}`,
      ['solve', 'mini/chunks', '--model', 'm', '--endpoint', 'nowhere', `--max-tokens=${value}`],
      2,
      words instanceof RegExp ? words : /^$/,
    ],
  ]),
  ...[
    ['sweep', 'run', '--benchmark', 'humaneval', '--model', 'gpt-4o', '--dry-run'],
    ['sweep', 'run', '--benchmark', 'mini', '--model', 'gpt-4o', '--dry-run'],
  ].map((argv): [string, string[], number, RegExp] => [
    `a real model without an endpoint: ${argv.join(' ')}`,
    argv,
    2,
    /OPENAI_BASE_URL and OPENAI_API_KEY are not set.*"gpt-4o"\.\n.*called `scripted`/,
  ]),
  [
    'Relaxed on an own file that shows its hidden tests',
    [
      'sweep',
      'run',
      '--benchmark',
      file('shown.jsonl', task('a', { visible_tests: ['assert f() == 1'] })),
      '--strategy',
      'relaxed',
      '--model',
      'scripted',
      '--dry-run',
    ],
    2,
    /python \(Relaxed\) cannot be used with .*shown\.jsonl: the visible tests of a are the ones it is graded by\.\nUse imagined/,
  ],
  ['a task that is nearly there', ['solve', 'mini/chunk', '--model', 'scripted'], 2, /Did you mean "mini\/chunks"/],
  ['select without input', ['select'], 2, /either --matrix, or --sweep, or --benchmark with --programs and --tests/],
  ['select with half of its files', ['select', '--benchmark', 'mini', '--tests', 't.jsonl'], 2, /either --matrix/],
  ['a ragged matrix', ['select', '--matrix', file('ragged.json', '{"matrix":[[1],[1,0]]}')], 2, /Row 1 .* has 2 cells/],
  [
    'a matrix among many that is none',
    ['select', '--matrix', file('many.jsonl', '{"matrix":[[1]]}\n{"matrix":[]}\n')],
    2,
    /many\.jsonl:2: The matrix holds no program/,
  ],
  ['no method of that name', ['select', '--matrix', 'ragged.json', '--method', 'aces'], 2, /Did you mean "aces-o"/],
  [
    'programs of an unknown task',
    [
      'select',
      '--benchmark',
      'mini',
      '--tests',
      file('tests.jsonl', '{"task_id":"mini/chunks","tests":[]}'),
      '--programs',
      file('programs.jsonl', '{"task_id":"mini/chunk","solution":"x"}'),
    ],
    2,
    /no task "mini\/chunk"\.\nDid you mean "mini\/chunks"/,
  ],
  ['limit of zero', [...dryRun, '--limit', '0'], 2, /limit must be a whole number from 1/],
  ['limit as word', [...dryRun, '--limit', 'ten'], 2, /limit must be a whole number from 1 to 1000000, not "ten"/],
  ['money without prices', [...dryRun, '--budget-usd', '1'], 2, /budget\.usd needs prices/],
  ['budget as word', [...dryRun, '--budget-tokens', 'much'], 2, /budget\.tokens must be a whole number.*not "much"/],
  [
    'budget below one request',
    [...dryRun, '--budget-tokens', '100'],
    2,
    /does not allow a single request: 100 tokens: the smallest request may take [1-9][\d,]*\.?\n/,
  ],
  ['name with a slash', [...dryRun, '--name', '../x'], 2, /name must be 1 to 64/],
  ['unknown strategy', [...dryRun, '--strategy', 'zero-shoot'], 2, /did you mean "zero-shot"/],
  [
    'Relaxed on MBPP',
    ['sweep', 'run', '--benchmark', 'mbpp', '--model', 'm', '--strategy', 'relaxed'],
    2,
    /visible tests are the ones it is graded by/,
  ],
  ...[
    ['sweep', 'run', '--benchmark', 'mini'],
    ['solve', 'mini/chunks'],
  ].map((argv): [string, string[], number, RegExp] => [
    `no model: ${argv.join(' ')}`,
    argv,
    2,
    /^error: No model was named\.\nAdd `--model NAME`, or `--endpoint scripted` for the offline model\.\n$/,
  ]),
  [
    'unknown endpoint',
    ['sweep', 'run', '--benchmark', 'mini', '--model', 'm', '--endpoint', 'nowhere'],
    2,
    /no endpoint is called "nowhere"/,
  ],
  [
    'password in a URL',
    ['sweep', 'run', '--benchmark', 'mini', '--model', 'm', '--endpoint', 'http://a:b@c/v1'],
    2,
    /without user, password/,
  ],
  ['no data folder', [...dryRun, '--data-dir', '/nowhere'], 2, /no folder/],
  [
    'empty own file',
    ['sweep', 'run', '--benchmark', file('empty.jsonl', ''), '--model', 'm', '--endpoint', 'scripted', '--dry-run'],
    2,
    /holds no task/,
  ],
  [
    'torn last line',
    [
      'sweep',
      'run',
      '--benchmark',
      file('torn.jsonl', `${task('a')}${task('b').slice(0, 20)}`),
      '--model',
      'm',
      '--endpoint',
      'scripted',
      '--dry-run',
    ],
    2,
    /torn\.jsonl:2: the last line is cut off/,
  ],
  [
    'duplicate ids',
    [
      'sweep',
      'run',
      '--benchmark',
      file('twice.jsonl', task('a') + task('a')),
      '--model',
      'm',
      '--endpoint',
      'scripted',
      '--dry-run',
    ],
    2,
    /stands already/,
  ],
  [
    'truncated gzip',
    [
      'sweep',
      'run',
      '--benchmark',
      file('cut.jsonl.gz', Buffer.from('1f8b0800000000000003ab56', 'hex')),
      '--model',
      'm',
      '--endpoint',
      'scripted',
      '--dry-run',
    ],
    2,
    /cut\.jsonl\.gz/,
  ],
  ['unknown sweep', ['sweep', 'status', 'none'], 2, /no sweep named "none"/],
  ['report of an unknown sweep', ['report', 'none'], 2, /no sweep named "none"/],
  ['show of an unknown sweep', ['show', 'none', 'x'], 2, /no sweep named "none"/],
  ['resume of an unknown sweep', ['sweep', 'resume', 'none'], 2, /no sweep named "none"/],
  ['cancel of an unknown sweep', ['sweep', 'cancel', 'none'], 2, /no sweep named "none"/],
  [
    'neither task nor file',
    ['solve', 'minni/x', '--model', 'm'],
    2,
    /neither a task nor a file.*\n.*Did you mean "mini\/x"/,
  ],
  [
    'prompt that names no function',
    ['solve', file('prose.txt', 'Add two numbers.'), '--model', 'm'],
    2,
    /does not say which function.*\n.*--entry-point/,
  ],
  ['unknown role', ['worker', '--role', 'modl'], 2, /no role "modl".*did you mean "model"/],
  ['worker without a server', ['worker'], 3, /no Temporal server/],
  ['samples that are not there', ['evaluate', 'none.jsonl', '--benchmark', 'mini'], 2, /none\.jsonl \(ENOENT\)/],
  ['samples without a benchmark', ['evaluate', file('s.jsonl', sample)], 2, /--benchmark/],
  ['samples of nothing', ['evaluate', file('e.jsonl', ''), '--benchmark', 'mini'], 2, /e\.jsonl holds no sample/],
  ['samples from a pipe without --out', ['evaluate', '-', '--benchmark', 'mini'], 2, /need --out/],
  ['results over samples', ['evaluate', 's.jsonl', '--out', 's.jsonl', '--benchmark', 'mini'], 2, /the samples them/],
  ['samples of another benchmark', ['evaluate', 's.jsonl', '--benchmark', 'mini'], 2, /1 is not among the 24 tasks/],
  ['unknown limits', ['evaluate', 's.jsonl', '--benchmark', 'mini', '--limits', 'x'], 2, /Allowed choices are/],
  ['pass@0', ['evaluate', 's.jsonl', '--benchmark', 'mini', '--k', '1,0'], 2, /--k is "1,0"/],
  ['half a worker', ['evaluate', 's.jsonl', '--benchmark', 'mini', '--workers', '0.5'], 2, /--workers is "0\.5"/],
  [
    'samples with a broken line',
    ['evaluate', file('broken.jsonl', `${sample}{"task_id": 1, "solution": []}\n`), '--benchmark', 'mini'],
    2,
    /1 sample of 2 .*:\n {2}broken\.jsonl:2: "solution" must be a string, not a list/,
  ],
  ['lint of nothing', ['problems', 'lint', 'none.jsonl'], 2, /no file/],
];

for (const [what, argv, exitCode, words] of badInput) {
  test(`bad input, ${what}: exit ${exitCode}, said in a few words, nothing on stdout, no state left`, async () => {
    const result = await run(argv);
    assert.match(result.stderr, words);
    assert.equal(result.exitCode, exitCode);
    assert.equal(result.stdout, '');
    assert.doesNotMatch(result.stderr, /^\s+at /m);
    assert.ok(!existsSync(join(folder, 'state', 'qualityflow.db')));
  });
}

async function endpoint(handler: (path: string) => { status: number; body: unknown }) {
  const server = createServer((request, response) => {
    const { status, body } = handler(request.url ?? '');
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

test('no key, wrong model and a server that is down are refused before anything starts', async () => {
  const sweep = ['sweep', 'run', '--benchmark', 'mini', '--model', 'small'];
  const locked = await endpoint(() => ({ status: 401, body: { error: { message: 'no key' } } }));
  const noKey = await run(sweep, { OPENAI_BASE_URL: locked.url });
  assert.equal(noKey.exitCode, 2);
  assert.match(noKey.stderr, /asks for a key.*\n.*OPENAI_API_KEY/);
  await locked.close();

  const down = await run(sweep, { OPENAI_BASE_URL: locked.url });
  assert.equal(down.exitCode, 3);
  assert.match(down.stderr, /cannot be reached/);

  const open = await endpoint(() => ({
    status: 200,
    body: { object: 'list', data: [{ id: 'smaller' }, { id: 'large' }] },
  }));
  const wrong = await run(sweep, { OPENAI_BASE_URL: open.url });
  assert.equal(wrong.exitCode, 2);
  assert.match(wrong.stderr, /has no model "small"\.\nDid you mean "smaller"/);
  await open.close();
  assert.ok(!existsSync(join(folder, 'state', 'qualityflow.db')));
});

test('a dry run says what would be sent, and is not stopped by Docker or Temporal', async () => {
  const text = await run([...dryRun, '--limit', '2', '--strategy', 'zero-shot', '--name', 'try']);
  assert.equal(text.exitCode, 0, text.stderr);
  assert.match(text.stdout, /requests +least 2, 2 if every first program is accepted, most 4/);
  assert.match(text.stdout, /\(most: every request has to be asked again because its reply cannot be used\)/);
  assert.match(text.stdout, /Nothing was sent/);
  const json = await run([...dryRun, '--json', '--task', 'chunks', '--samples', '3', '--name', 'try']);
  const plan = JSON.parse(json.stdout);
  assert.deepEqual(plan.tasks, ['mini/chunks']);
  assert.deepEqual([plan.problems, plan.samples], [1, 3]);
});

test('several samples at temperature 0 are warned of before they cost', async () => {
  const { stderr, exitCode } = await run([...dryRun, '--samples', '3']);
  assert.equal(exitCode, 0);
  assert.match(
    stderr,
    /^Warning: all 3 samples of a task ask the same greedy request .*model\.parameters\.temperature/,
  );
  assert.equal(stderr.split('\n').length, 2, 'one line');
  assert.equal((await run([...dryRun, '--samples', '1'])).stderr, '');
  const spec = 'name: a\nbenchmark: mini\nstrategy: zero-shot\nsamples: 3\n';
  const warm = file('warm.yaml', `${spec}model: { name: scripted, parameters: { temperature: 0.8 } }\n`);
  assert.equal((await run(['sweep', 'run', warm, '--dry-run'])).stderr, '');
});

test('--problems and --requests are limits of a run too, and the scripted endpoint needs no model', async () => {
  const flags = ['--endpoint', 'scripted', '--problems', '3', '--requests', '2', '--dry-run', '--json'];
  const { spec } = JSON.parse((await run(['sweep', 'run', '--benchmark', 'mini', ...flags])).stdout);
  assert.deepEqual([spec.concurrency, spec.model.name], [{ problems: 3, requests: 2 }, 'scripted']);
});

test('runs one by one, of some outcomes; sweeps of solve are listed when asked for', async () => {
  const home = 'stored';
  const store = await openStore({ home: join(folder, home) });
  for (const name of ['a', 'solve-b']) {
    const parsed = parseSpecValue({ name, benchmark: 'mini', strategy: 'zero-shot', model: 'm' });
    assert.ok(parsed.kind === 'spec');
    await store.createSweep({
      name,
      spec: parsed.spec,
      specHash: '',
      datasetSha256: '',
      scripted: true,
      endpointIdentity: 'scripted',
      tasks: ['mini/chunks', 'mini/bill'],
      planned: 2,
    });
  }
  const ended = { tokens: 0, requests: 0, trail: [], submission: null, fingerprint: null, recordedAt: '' };
  await store.recordOutcome({
    ...ended,
    run: { sweep: 'a', taskId: 'mini/bill', sample: 0, attempt: 1 },
    outcome: 'no_code',
    finalStep: 'nothing',
    detail: 'prose \u001b[2J only',
  });
  await store.close();
  const told = (...argv: string[]) => run(argv, {}, home);

  const none = await told('show', 'a');
  assert.equal(none.exitCode, 2);
  assert.match(none.stderr, /Which of the 2 tasks of a .*\n.*`qualityflow report a --tasks`/);
  const table = (await told('report', 'a', '--tasks')).stdout;
  assert.match(table, /^a {2}2 runs.*\ntask +sample +outcome +ended at +detail\n/);
  assert.match(table, /\nmini\/chunks +0 +not_run\nmini\/bill +0 +no_code +nothing +prose \\x1b\[2J only\n$/);
  const some = await told('report', 'a', '--outcome', 'wrong,no_code');
  assert.match(some.stdout, /1 of 2 runs/);
  assert.doesNotMatch(some.stdout, /chunks/);
  const { tasks, taskCount } = JSON.parse((await told('report', 'a', '--json', '--outcome', 'not_run')).stdout);
  assert.deepEqual(tasks, [{ task: 'mini/chunks', sample: 0, outcome: 'not_run', step: '', detail: '' }]);
  assert.equal(taskCount, 2);

  const list = await told('sweep', 'list');
  assert.doesNotMatch(list.stdout, /solve-b/);
  assert.match(list.stderr, /^1 sweep of `solve` not shown: --all\n$/);
  assert.match((await told('sweep', 'list', '--all')).stdout, /solve-b/);
  assert.equal(JSON.parse((await told('sweep', 'list', '--json')).stdout).length, 2);
});

test('a dry run sends nothing: the endpoint is not even asked for its models', async () => {
  let asked = 0;
  const server = await endpoint(() => {
    asked += 1;
    return { status: 401, body: {} };
  });
  const env = { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: 'k-1' };
  const { exitCode, stdout, stderr } = await run(
    ['sweep', 'run', '--benchmark', 'mini', '--model', 'm\u001b[2J\u202e', '--dry-run'],
    env,
  );
  await server.close();
  assert.equal(exitCode, 0, stderr);
  assert.equal(asked, 0);
  assert.match(stdout, /Nothing was sent/);
  assert.ok(stdout.includes('m\\x1b[2J\\u202e at http://127'), stdout);
  assert.doesNotMatch(stdout.replaceAll('\n', ''), /[\p{Cc}\u202e]/u);
});

test('JSON carries no character that a terminal obeys, and reads as the same', async () => {
  const model = 'm\u009b2J\u202e';
  const { stdout } = await run([
    'sweep',
    'run',
    '--benchmark',
    'mini',
    '--endpoint',
    'scripted',
    '--model',
    model,
    '--dry-run',
    '--json',
  ]);
  assert.doesNotMatch(stdout.slice(0, -1), /[\p{Cc}\u202e]/u);
  assert.equal(JSON.parse(stdout).spec.model.name, model);
});

test('an own file that shows some of its hidden tests is used by Relaxed with a word on it', async () => {
  const hidden_tests = ['assert f() == 1', 'assert f() == 1 + 0'];
  const own = file('some.jsonl', task('a\u202e', { hidden_tests, visible_tests: ['assert f() == 1'] }));
  const argv = ['sweep', 'run', '--benchmark', own, '--model', 'scripted', '--dry-run', '--strategy'];
  const relaxed = await run([...argv, 'relaxed']);
  assert.equal(relaxed.exitCode, 0, relaxed.stderr);
  assert.match(relaxed.stderr, /^Some hidden tests of a\\u202e are visible too/);
  assert.equal((await run([...argv, 'standard'])).stderr, '');
  const lint = await run(['problems', 'lint', own, '--no-run']);
  assert.equal(lint.exitCode, 0);
  assert.match(lint.stdout, /warning: a\\u202e: Hidden test 1 is visible too/);
});

test('help and version are no failure', async () => {
  assert.equal((await run(['--help'])).exitCode, 0);
  assert.equal((await run(['sweep', 'run', '--help'])).exitCode, 0);
  const { exitCode, stdout } = await run(['--version']);
  assert.equal(exitCode, 0);
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
});

test('commands that only look leave no state folder behind', async () => {
  assert.equal((await run(['sweep', 'list'])).stdout.includes('No sweep'), true);
  assert.deepEqual(JSON.parse((await run(['sweep', 'list', '--json'])).stdout), []);
  assert.equal((await run(['down'])).exitCode, 0);
  assert.ok(!existsSync(join(folder, 'state', 'qualityflow.db')));
});

test('problems: names, tasks, and the public view alone', async () => {
  assert.match((await run(['problems', 'list'])).stdout, /^humaneval\nhumaneval\+\n/);
  assert.match((await run(['problems', 'list', 'mini'])).stdout, /mini\/chunks +chunks +\d visible/);
  const shown = JSON.parse((await run(['problems', 'show', 'mini', 'chunks', '--json'])).stdout);
  assert.equal(shown.taskId, 'mini/chunks');
  assert.equal(JSON.stringify(shown).includes('canonical'), false);
});

test('hostile text in messages is escaped', async () => {
  const { stderr } = await run(['sweep', 'status', 'x\u001b[2J\u202e']);
  assert.ok(!stderr.includes('\u001b') && !stderr.includes('\u202e'), JSON.stringify(stderr));
});

test('--verbose adds where an error came from', async () => {
  const { stderr, exitCode } = await run(['sweep', 'status', 'none', '--verbose']);
  assert.equal(exitCode, 2);
  assert.match(stderr, /^\s+at /m);
});
