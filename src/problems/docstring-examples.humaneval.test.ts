import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { dataDir, withoutData } from '../../test/support/data.ts';
import { syntaxTree } from '../python-syntax/tree.ts';
import { openBenchmark } from './benchmark.ts';
import { readDatasetText } from './dataset-text.ts';
import { Fields, lineEntries } from './entries.ts';
import { openHiddenTests } from './hidden.ts';

/**
 * Two public collections of HumanEval's examples as cross-checks (algorithms 1.6 L): neither is clean, so every task in which one
 * of them differs from ours stands in the table with the reason. `ours` and `theirs` are what only that side has, normalised.
 */
interface Difference {
  reason: string;
  public?: { ours: string[]; theirs: string[] };
  ldb?: { ours: string[]; theirs: string[] };
}

const TABLE = join(import.meta.dirname, 'docstring-examples.differences.json');

test('our examples differ from the public collections exactly where the table says', {
  skip: withoutData,
}, async () => {
  const folder = dataDir ?? '';
  const benchmark = await openBenchmark({ benchmark: 'humaneval', dataDir: folder, home: folder });
  const publicTests = await collection(
    join(folder, 'aflow-splits/humaneval_public_test.jsonl.gz'),
    'problem_id',
    'test',
  );
  const ldbTests = await collection(
    join(folder, 'ldb/humaneval_gpt-3.5-turbo-0613_seed.jsonl.gz'),
    'task_id',
    'given_tests',
  );
  const found: Record<string, Omit<Difference, 'reason'>> = {};
  for (const taskId of benchmark.taskIds) {
    const problem = benchmark.problem(taskId);
    const ours = problem.visibleTests.map((visible) => (visible.kind === 'assert' ? normalised(visible.source) : ''));
    const named = (publicTests.get(taskId) ?? []).map((source) =>
      source.replaceAll('candidate(', `${problem.entryPoint}(`),
    );
    const differences = {
      public: difference(ours, named.map(normalised)),
      ldb: difference(ours, (ldbTests.get(taskId) ?? []).map(normalised)),
    };
    if (differences.public ?? differences.ldb) found[taskId] = JSON.parse(JSON.stringify(differences));
  }
  const table: Record<string, Difference> = JSON.parse(readFileSync(TABLE, 'utf8'));
  assert.deepEqual(
    found,
    Object.fromEntries(Object.entries(table).map(([taskId, { reason: _reason, ...rest }]) => [taskId, rest])),
  );
  for (const [taskId, { reason }] of Object.entries(table)) assert.ok(reason.length > 10, taskId);
});

test('every visible assert is Python, and the references fail as many as are counted', {
  skip: withoutData,
  timeout: 300_000,
}, async () => {
  const folder = dataDir ?? '';
  for (const name of ['humaneval', 'humaneval+', 'mbpp', 'mbpp-sanitized', 'mbpp+']) {
    const source = { benchmark: name, dataDir: folder, home: folder };
    const [benchmark, hidden] = [await openBenchmark(source), await openHiddenTests(source)];
    const tasks = benchmark.taskIds.map((taskId) => {
      const sealed = hidden.hidden(taskId);
      const asserts = benchmark
        .problem(taskId)
        .visibleTests.map((visible) => (visible.kind === 'assert' ? visible.source : ''));
      return { taskId, program: sealed.canonical, setup: sealed.kind === 'asserts' ? sealed.setup : '', asserts };
    });
    const run = spawnSync('python3', ['-I', '-c', RUN_ASSERTS], {
      input: JSON.stringify(tasks),
      encoding: 'utf8',
      timeout: 280_000,
      maxBuffer: 1 << 26,
    });
    assert.equal(run.status, 0, `${run.error?.message} ${run.stderr}`);
    const outcome: { syntax: string[]; failed: string[] } = JSON.parse(run.stdout);
    assert.deepEqual(outcome.syntax, [], name);
    assert.equal(benchmark.countInvalidVisible, outcome.failed.length, `${name}: ${outcome.failed.join('; ')}`);
  }
});

/** The datasets' own references, which are trusted; math is there because MBPP+ lacks an import in three tasks. */
const RUN_ASSERTS = `
import contextlib, io, json, sys
syntax, failed = [], []
for task in json.load(sys.stdin):
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec("import math", names)
        exec(task["program"], names)
        exec(task["setup"], names)
        for source in task["asserts"]:
            try:
                code = compile(source, "assert", "exec")
            except SyntaxError:
                syntax.append(task["taskId"] + ": " + source)
                continue
            try:
                exec(code, names)
            except Exception:
                failed.append(task["taskId"] + ": " + source)
print(json.dumps({"syntax": syntax, "failed": failed}))
`;

function difference(ours: string[], theirs: string[]): { ours: string[]; theirs: string[] } | undefined {
  const only = {
    ours: ours.filter((source) => !theirs.includes(source)),
    theirs: theirs.filter((source) => source !== '' && !ours.includes(source)),
  };
  return only.ours.length + only.theirs.length === 0 ? undefined : only;
}

/** The assert without layout: one kind of quotes, no spaces, `is None` as `== None`, no last comma of a call, `6.00` as `6`. */
function normalised(source: string): string {
  let text = '';
  syntaxTree(source).iterate({
    enter({ node }) {
      if (node.firstChild !== null && node.name !== 'String') return true;
      const token = source.slice(node.from, node.to);
      const isLastComma = token === ',' && node.parent?.name === 'ArgList' && node.nextSibling?.name === ')';
      if (node.name === 'String') text += JSON.stringify(token.slice(1, -1));
      else if (node.name === 'Number') text += String(Number(token));
      else if (token === 'is') text += '==';
      else if (token === 'assert') text += 'assert ';
      else if (!isLastComma) text += token;
      return false;
    },
  });
  return text;
}

/** Asserts by task id. */
async function collection(path: string, idKey: string, testsKey: string): Promise<Map<string, string[]>> {
  const { text } = await readDatasetText(path);
  const records = [...lineEntries(text, path)].map((entry) => Fields.of(entry));
  return new Map(records.map((fields) => [fields.text(idKey), fields.textList(testsKey)]));
}
