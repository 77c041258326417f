import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { generatorPrompt } from '../agents/generator.ts';
import { requestBody } from '../models/request-key.ts';
import type { Problem } from '../problems/problem.ts';
import { parseOperational, parseSpec, parseSpecValue } from './parse-spec.ts';
import type { SpecProblem } from './spec-problem.ts';

const problem: Problem = {
  taskId: 'x',
  kind: 'function',
  entryPoint: 'f',
  form: 'description',
  statement: 'Add one.',
  preamble: '',
  visibleTests: [],
};
const minimal = { name: 'first', benchmark: 'humaneval', strategy: 'standard', model: 'some-model' };

function specOf(text: string, file = '/sweeps/spec.yaml') {
  const parsed = parseSpec({ text, file });
  assert.equal(parsed.kind, 'spec', JSON.stringify(parsed));
  return parsed.kind === 'spec' ? parsed.spec : assert.fail();
}

function problemsOf(raw: Record<string, unknown>): SpecProblem[] {
  const parsed = parseSpecValue(raw);
  assert.equal(parsed.kind, 'problems');
  return parsed.kind === 'problems' ? parsed.problems : [];
}

test('the annotated spec is read, with numbers grouped by underscores and every default filled in', () => {
  const spec = specOf(`
name: he-qf-small
benchmark: humaneval
limit: 1_00
shuffle: 7
strategy: { kind: quality-flow, checker: imagined, diversified: 2, tqc: false }
model:
  name: qwen2.5-coder-1.5b-instruct-q4_k_m
  parameters: { max_tokens: 512 }
samples: 1
`);
  assert.deepEqual(spec, {
    name: 'he-qf-small',
    benchmark: 'humaneval',
    limit: 100,
    shuffle: 7,
    strategy: {
      kind: 'quality-flow',
      checker: 'imagined',
      diversified: 2,
      tests: { queries: 5, perQuery: 10, shared: true },
      tqc: false,
      debugEpochs: 3,
      carryForward: false,
      clarifier: true,
      clarifierAttempts: 3,
      revert: true,
      onRevert: 'first',
      checkerSeesProblem: false,
    },
    model: {
      name: 'qwen2.5-coder-1.5b-instruct-q4_k_m',
      endpoint: 'default',
      api: 'chat',
      parameters: { max_tokens: 512 },
      extraBody: {},
      maxTokens: {},
      requestTimeoutMs: 600_000,
    },
    samples: 1,
    seed: 0,
    concurrency: { problems: 50, requests: 20 },
    budget: {},
    maxWaitMs: 86_400_000,
  });
});

test('a budget, its prices and the longest wait are read; what makes no hard cap is refused', () => {
  const spec = specOf(`
name: a
benchmark: humaneval
strategy: zero-shot
model: m
budget: { tokens: 2_000_000, usd: 5 }
prices: { prompt: 0.15, completion: 0.6 }
maxWait: 1.5h
`);
  assert.deepEqual(
    [spec.budget, spec.prices, spec.maxWaitMs],
    [{ tokens: 2_000_000, usd: 5 }, { prompt: 0.15, completion: 0.6 }, 5_400_000],
  );
  const free = { prompt: 0, completion: 0 };
  const said = (raw: Record<string, unknown>) =>
    problemsOf({ ...minimal, ...raw }).map(({ path, message }) => `${path} ${message}`);
  assert.match(said({ budget: { usd: 1 } }).join(), /^budget\.usd needs prices/);
  assert.match(said({ budget: { tokens: 0 } }).join(), /^budget\.tokens must be a whole number from 1/);
  assert.match(said({ budget: { usd: 0 }, prices: free }).join(), /^budget\.usd must be a number above 0/);
  assert.match(said({ budget: { dollars: 1 } }).join(), /dollars/);
  assert.match(said({ budget: 5 }).join(), /^budget must be a mapping of tokens and usd/);
  assert.match(said({ prices: { prompt: -1, completion: 0 } }).join(), /^prices\.prompt must be a number from 0/);
  assert.match(said({ prices: { prompt: 1 } }).join(), /^prices\.completion/);
  for (const maxWait of ['soon', '5', '-1h', '31d', 5, '1e3s', ''])
    assert.match(said({ maxWait }).join(), /^maxWait must be a length of time/, String(maxWait));
  const endless = { name: 'm', parameters: { max_tokens: null } };
  assert.match(said({ budget: { tokens: 5 }, model: endless }).join(), /^budget needs a longest reply/);
  assert.equal(
    parseSpecValue({ ...minimal, budget: { tokens: 5 }, model: { ...endless, contextTokens: 4096 } }).kind,
    'spec',
  );
});

test('a flag sets one field of a mapping and leaves the others as the file has them', () => {
  const text =
    '{name: a, benchmark: mini, strategy: zero-shot, model: m, budget: {tokens: 5}, concurrency: {requests: 3}}';
  const overrides = { budget: { tokens: 9 }, concurrency: { problems: 7 } };
  const parsed = parseSpec({ text, file: '/sweeps/spec.yaml', overrides });
  assert.ok(parsed.kind === 'spec');
  assert.deepEqual([parsed.spec.budget, parsed.spec.concurrency], [{ tokens: 9 }, { problems: 7, requests: 3 }]);
});

test('a resume changes single limits, and keeps to the same rules', () => {
  const parsed = parseSpecValue({ ...minimal, budget: { tokens: 10 }, concurrency: { problems: 4, requests: 2 } });
  assert.ok(parsed.kind === 'spec');
  const changed = parseOperational({ budget: { tokens: 20 }, concurrency: { requests: 9 } }, parsed.spec);
  assert.deepEqual(changed, {
    kind: 'change',
    change: { budget: { tokens: 20 }, concurrency: { problems: 4, requests: 9 } },
  });
  const refused = (change: Parameters<typeof parseOperational>[0]) => {
    const result = parseOperational(change, parsed.spec);
    return result.kind === 'problems' ? result.problems.map(({ path, message }) => `${path} ${message}`).join() : '';
  };
  assert.match(refused({ budget: { usd: 3 }, concurrency: {} }), /^budget\.usd needs prices/);
  assert.match(refused({ budget: { tokens: 'x' }, concurrency: {} }), /^budget\.tokens must be a whole number.*"x"/);
  assert.match(refused({ budget: {}, concurrency: { problems: 0 } }), /^concurrency\.problems must be/);
});

test('presets are shorthands that further options refine', () => {
  const relaxed = parseSpecValue({ ...minimal, strategy: 'relaxed' });
  assert.ok(relaxed.kind === 'spec' && relaxed.spec.strategy.kind === 'quality-flow');
  assert.equal(relaxed.spec.strategy.checker, 'python');
  const refined = parseSpecValue({ ...minimal, strategy: { preset: 'relaxed', diversified: 1 } });
  assert.ok(refined.kind === 'spec' && refined.spec.strategy.kind === 'quality-flow');
  assert.deepEqual([refined.spec.strategy.checker, refined.spec.strategy.diversified], ['python', 1]);
  const zeroShot = parseSpecValue({ ...minimal, strategy: { preset: 'zero-shot' } });
  assert.ok(zeroShot.kind === 'spec');
  assert.deepEqual(zeroShot.spec.strategy, { kind: 'zero-shot' });
});

test('an own benchmark counts from the folder of the spec file; a known name stays', () => {
  assert.equal(
    specOf('{name: a, benchmark: data/own.jsonl, strategy: zero-shot, model: m}').benchmark,
    '/sweeps/data/own.jsonl',
  );
  assert.equal(specOf('{name: a, benchmark: mini, strategy: zero-shot, model: m}').benchmark, 'mini');
});

test('a byte order mark and CRLF line ends are no obstacle', () => {
  assert.equal(specOf('\uFEFFname: a\r\nbenchmark: mini\r\nstrategy: zero-shot\r\nmodel: m\r\n').name, 'a');
});

/** Each row: what is wrong, and the path and words that its message must hold. */
const badValues: [string, Record<string, unknown>, string, RegExp][] = [
  ['unknown benchmark', { benchmark: 'humanevel' }, 'benchmark', /must be one of humaneval.*did you mean "humaneval"/],
  [
    'a benchmark nothing like one',
    { benchmark: 'zzzzzzzz' },
    'benchmark',
    /must be one of humaneval, humaneval\+, mbpp.*not "zzzzzzzz"$/,
  ],
  ['unknown key', { limits: 3 }, 'limits', /not an option.*did you mean "limit"/],
  ['a budget of something else', { budget: { token: 1 } }, 'budget.token', /did you mean "tokens"/],
  ['upper-case name', { name: 'First' }, 'name', /must be 1 to 64 of a-z.*not "First"/],
  ['name that leaves its folder', { name: '../x' }, 'name', /must be 1 to 64/],
  ['long name', { name: 'a'.repeat(65) }, 'name', /must be 1 to 64/],
  ['missing name', { name: undefined }, 'name', /is missing/],
  ['limit of zero', { limit: 0 }, 'limit', /whole number from 1 to 1000000, not 0/],
  ['fractional limit', { limit: 1.5 }, 'limit', /whole number/],
  ['limit as text', { limit: 'ten' }, 'limit', /whole number.*not "ten"/],
  ['empty task list', { tasks: [] }, 'tasks', /at least one task/],
  ['task twice', { tasks: ['HumanEval/1', 'HumanEval/1'] }, 'tasks[1]', /second time/],
  ['task that is a number', { tasks: [3] }, 'tasks[0]', /task id, not 3/],
  ['samples', { samples: -1 }, 'samples', /from 1 to 10000, not -1/],
  ['unknown preset', { strategy: 'standrad' }, 'strategy', /did you mean "standard"/],
  ['unknown kind', { strategy: { kind: 'qualityflow' } }, 'strategy.kind', /did you mean "quality-flow"/],
  ['no kind', { strategy: { diversified: 2 } }, 'strategy.kind', /is missing/],
  [
    'kind against preset',
    { strategy: { kind: 'zero-shot', preset: 'relaxed' } },
    'strategy.kind',
    /must be quality-flow/,
  ],
  ['strategy missing', { strategy: undefined }, 'strategy', /is missing/],
  ['strategy as list', { strategy: ['standard'] }, 'strategy', /must be one of/],
  ['prototype name as preset', { strategy: 'constructor' }, 'strategy', /must be one of/],
  ['option of zero-shot', { strategy: { kind: 'zero-shot', tqc: true } }, 'strategy.tqc', /zero-shot has none/],
  [
    'unknown checker',
    { strategy: { kind: 'quality-flow', checker: 'imagine' } },
    'strategy.checker',
    /must be one of imagined, python, critic, none.*did you mean "imagined"/,
  ],
  [
    'diversified 7',
    { strategy: { kind: 'quality-flow', diversified: 7 } },
    'strategy.diversified',
    /from 1 to 6, not 7/,
  ],
  [
    'four debug epochs for three prompts',
    { strategy: { kind: 'quality-flow', debugEpochs: 4 } },
    'strategy.debugEpochs',
    /from 0 to 3, not 4/,
  ],
  [
    'checker none that reverts',
    { strategy: { kind: 'quality-flow', checker: 'none' } },
    'strategy.revert',
    /must be false/,
  ],
  [
    'nested unknown key',
    { strategy: { kind: 'quality-flow', tests: { querys: 1 } } },
    'strategy.tests.querys',
    /did you mean "queries"/,
  ],
  ['too many tests', { strategy: { kind: 'select', tests: { queries: 51 } } }, 'strategy.tests', /at most 500 tests/],
  ['unknown method', { strategy: { kind: 'select', method: 'aces' } }, 'strategy.method', /aces-o, aces-c, codet/],
  [
    'option of the other strategy',
    { strategy: { kind: 'select', tests: { shared: true } } },
    'strategy.tests.shared',
    /not an option here; allowed: queries, perQuery$/,
  ],
  ['programs', { strategy: { kind: 'select', programs: 1001 } }, 'strategy.programs', /from 1 to 1000, not 1001/],
  [
    'draws at temperature 0',
    { strategy: 'select', model: { name: 'm', parameters: { temperature: 0 } } },
    'model.parameters.temperature',
    /above 0 with the strategy select/,
  ],
  ['runs of draws', { strategy: 'select', samples: 1001 }, 'samples', /at most 1000 with the strategy select/],
  [
    'ACES without a revert',
    { strategy: { kind: 'quality-flow', checker: 'none', revert: false, onRevert: 'aces' } },
    'strategy.onRevert',
    /must be first with revert: false/,
  ],
  ['tests as number', { strategy: { kind: 'quality-flow', tests: 50 } }, 'strategy.tests', /must be a mapping/],
  ['tqc as word', { strategy: { kind: 'quality-flow', tqc: 'yes' } }, 'strategy.tqc', /true or false, not "yes"/],
  [
    'Relaxed on MBPP',
    { benchmark: 'mbpp', strategy: 'relaxed' },
    'strategy.checker',
    /visible tests are the ones it is graded by/,
  ],
  ['Relaxed on MBPP+', { benchmark: 'mbpp+', strategy: 'relaxed' }, 'strategy.checker', /imagined \(Standard\)/],
  ['Relaxed on sanitized MBPP', { benchmark: 'mbpp-sanitized', strategy: 'relaxed' }, 'strategy.checker', /imagined/],
  ['model missing', { model: undefined }, 'model', /is missing|must/],
  ['model without name', { model: { endpoint: 'default' } }, 'model.name', /is missing/],
  [
    'password in the endpoint',
    { model: { name: 'm', endpoint: 'http://me:secret@host/v1' } },
    'model.endpoint',
    /without user, password/,
  ],
  ['endpoint of another protocol', { model: { name: 'm', endpoint: 'file:///etc/passwd' } }, 'model.endpoint', /alias/],
  ['unknown api', { model: { name: 'm', api: 'completion' } }, 'model.api', /did you mean "completions"/],
  [
    'agent unknown',
    { model: { name: 'm', maxTokens: { generatr: 5 } } },
    'model.maxTokens.generatr',
    /did you mean "generator"/,
  ],
  [
    'key in the parameters',
    { model: { name: 'm', parameters: { api_key: 'sk-1' } } },
    'model.parameters.api_key',
    /only from the environment/,
  ],
  ['streaming', { model: { name: 'm', extraBody: { stream: true } } }, 'model.extraBody.stream', /cannot be set/],
  ...[
    ['max_tokens', 'abc', /whole number from 1 to 1000000, not "abc"/],
    ['max_tokens', -5, /whole number from 1 to 1000000, not -5/],
    ['max_tokens', 1.5, /whole number/],
    ['max_tokens', 1_000_001, /whole number/],
    ['max_completion_tokens', 0, /whole number/],
    ['temperature', 2.1, /number from 0 to 2, not 2.1/],
    ['temperature', '0', /number from 0 to 2, not "0"/],
    ['temperature', Number.NaN, /number from 0 to 2/],
    ['top_p', -0.1, /number from 0 to 1/],
    ['seed', 3, /seed of the sweep/],
    ...['stream', 'stream_options', 'n', 'messages', 'model', 'prompt'].map(
      (key) => [key, 1, /cannot be set here/] as const,
    ),
  ].flatMap(([key, value, words]) =>
    ['parameters', 'extraBody'].map((field): [string, Record<string, unknown>, string, RegExp] => [
      `${String(key)} ${String(value)} in ${field}`,
      { model: { name: 'm', [field]: { [String(key)]: value } } },
      `model.${field}.${String(key)}`,
      words instanceof RegExp ? words : /^$/,
    ]),
  ),
  ...['constructor', 'toString', 'hasOwnProperty'].flatMap(
    (key): [string, Record<string, unknown>, string, RegExp][] => [
      [`key ${key}`, { [key]: 1 }, key, /not an option here; allowed: name, benchmark/],
      [`key ${key} below`, { concurrency: { [key]: 1 } }, `concurrency.${key}`, /allowed: problems, requests/],
      [`strategy of key ${key}`, { strategy: { kind: 'quality-flow', [key]: 1 } }, `strategy.${key}`, /not an option/],
    ],
  ),
  ['model as number', { model: 3 }, 'model', /^must be the name of a model, or a mapping.*not 3$/],
  ['parameters as list', { model: { name: 'm', parameters: [1] } }, 'model.parameters', /must be a mapping/],
  ['concurrency', { concurrency: { problem: 3 } }, 'concurrency.problem', /did you mean "problems"/],
];

for (const [what, change, path, words] of badValues) {
  test(`bad spec, ${what}: refused at ${path}`, () => {
    const problems = problemsOf({ ...minimal, ...change });
    const found = problems.find((problem) => problem.path === path);
    assert.ok(found, `no problem at ${path}: ${JSON.stringify(problems)}`);
    assert.match(found.message, words);
    assert.equal(problems.length, 1, JSON.stringify(problems));
  });
}

test('Relaxed is allowed where the visible tests are not the hidden ones', () => {
  for (const benchmark of ['humaneval', 'humaneval+', 'mini', '/data/own.jsonl']) {
    assert.equal(parseSpecValue({ ...minimal, benchmark, strategy: 'relaxed' }).kind, 'spec', benchmark);
  }
});

test('all errors are told at once, in the order of the file, with their lines', () => {
  const parsed = parseSpec({
    file: 'spec.yaml',
    text: 'name: Bad Name\nbenchmark: mpbb\nlimt: 3\nstrategy:\n  kind: quality-flow\n  diversified: 9\nmodel:\n  name: m\n  api: chatt\n',
  });
  assert.ok(parsed.kind === 'problems');
  assert.deepEqual(
    parsed.problems.map(({ path, line }) => [path, line]),
    [
      ['name', 1],
      ['benchmark', 2],
      ['limt', 3],
      ['strategy.diversified', 6],
      ['model.api', 9],
    ],
  );
});

test('invalid YAML is refused with its line', () => {
  for (const [text, line] of [
    ['name: a\n  benchmark: b', 1],
    ['name: a\nname: b\n', 2],
    ['name: [a', 1],
    ['a: 1\n---\nb: 2\n', 2],
  ] as const) {
    const parsed = parseSpec({ text, file: 'x.yaml' });
    assert.ok(parsed.kind === 'problems', text);
    assert.equal(parsed.problems[0]?.line, line, text);
    assert.match(parsed.problems[0]?.message ?? '', /not valid YAML/);
  }
});

test('a document that is no mapping, an alias bomb and binary text are refused without a throw', () => {
  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...'bcdefghi'.split('').map((k, i) => `${k}: &${k} [${`*${'abcdefgh'[i]},`.repeat(9)}]`),
  ].join('\n');
  for (const text of ['', '- a', '42', '"text"', 'null', bomb, '\u0000\u0001', '? {a: 1} : 2']) {
    assert.equal(parseSpec({ text, file: 'x.yaml' }).kind, 'problems', text.slice(0, 40));
  }
});

test('any text and any value give a spec or problems, never a throw', () => {
  fc.assert(
    fc.property(fc.string(), (text) => ['spec', 'problems'].includes(parseSpec({ text, file: 'x' }).kind)),
    { numRuns: 200 },
  );
  const anything = fc.anything();
  fc.assert(
    fc.property(
      fc.record(
        { name: anything, benchmark: anything, strategy: anything, model: anything, tests: anything },
        { requiredKeys: [] },
      ),
      (raw) => {
        const parsed = parseSpecValue(raw);
        // The library's own words are for programmers.
        return (
          parsed.kind === 'spec' ||
          (parsed.problems.length > 0 &&
            !/Invalid|expected/.test(
              JSON.stringify(parsed.problems.map(({ message }) => message.replace(/, not .*$/s, ''))),
            ))
        );
      },
    ),
    { numRuns: 300 },
  );
});

test('each required key that is missing is one problem, said in words', () => {
  for (const key of ['name', 'benchmark', 'strategy', 'model'] as const) {
    const { [key]: _left, ...rest } = minimal;
    const problems = problemsOf(rest);
    assert.deepEqual(
      problems.map(({ path }) => path),
      [key],
    );
    assert.match(problems[0]?.message ?? '', /^is missing: it must /);
  }
});

test('parameters that are null, and those that only the endpoint knows, pass as they are', () => {
  const parameters = { temperature: null, max_tokens: 1_000_000, top_p: 0, min_p: 'x', stop: ['a'] };
  const parsed = parseSpecValue({ ...minimal, model: { name: 'm', parameters } });
  assert.ok(parsed.kind === 'spec', JSON.stringify(parsed));
  assert.deepEqual(parsed.spec.model.parameters, parameters);
});

test('a reply limit by flag beats those by agent and in extraBody; without it they stay', () => {
  const text = `name: a
benchmark: mini
strategy: zero-shot
model:
  name: m
  parameters: { max_tokens: 5 }
  maxTokens: { generator: 700 }
  extraBody: { max_tokens: 900, top_k: 1 }
`;
  const modelOf = (overrides: Record<string, unknown>) => {
    const parsed = parseSpec({ text, file: 'x', overrides });
    return parsed.kind === 'spec' ? parsed.spec.model : assert.fail(JSON.stringify(parsed));
  };
  const limited = modelOf({ model: { parameters: { max_tokens: 64 } } });
  const prompt = generatorPrompt({ problem, prompt: 0, api: 'chat' });
  const body = requestBody({ settings: limited, prompt, seed: 0, sample: 0, retry: 0 });
  assert.deepEqual([body.max_tokens, body.top_k], [64, 1]);
  const own = modelOf({ limit: 3 });
  assert.deepEqual([own.maxTokens, own.extraBody], [{ generator: 700 }, { max_tokens: 900, top_k: 1 }]);
  const wrong = parseSpec({
    text: text.replace('generator: 700', 'genrator: 700'),
    file: 'x',
    overrides: { model: { parameters: { max_tokens: 64 } } },
  });
  assert.equal(wrong.kind, 'problems', 'a flag does not cover up what is wrong');
});

test('a key called __proto__ is an unknown key like any other', () => {
  const text = 'name: a\nbenchmark: mini\nstrategy: zero-shot\nmodel: m\n__proto__: {limit: 1}\n';
  const parsed = parseSpec({ text, file: 'x' });
  assert.ok(parsed.kind === 'problems', JSON.stringify(parsed));
  assert.match(parsed.problems[0]?.message ?? '', /not an option here; allowed/);
});

test('a flag sets its own field beside those of the file, and does not cover up what is wrong there', () => {
  const given = (rest: string, overrides: Record<string, unknown>) =>
    parseSpec({ text: `name: a\nbenchmark: mini\nstrategy: zero-shot\n${rest}`, file: 'x.yaml', overrides });
  const file = 'model: {name: m, parameters: {max_tokens: 5, top_p: 1}}\nconcurrency: {problems: 3, requests: 2}\n';
  const parsed = given(file, { concurrency: { problems: 7 }, model: { parameters: { max_tokens: 9 } } });
  assert.ok(parsed.kind === 'spec');
  assert.deepEqual(parsed.spec.concurrency, { problems: 7, requests: 2 });
  assert.deepEqual(parsed.spec.model.parameters, { max_tokens: 9, top_p: 1 });
  const named = given('model: m\n', { concurrency: { problems: 7 }, model: { endpoint: 'scripted' } });
  assert.ok(named.kind === 'spec');
  assert.deepEqual([named.spec.concurrency, named.spec.model.name], [{ problems: 7, requests: 20 }, 'm']);
  const wrong = given('model: m\nconcurrency: 3\n', { concurrency: { problems: 7 } });
  assert.ok(wrong.kind === 'problems');
  assert.match(wrong.problems[0]?.message ?? '', /mapping of problems and requests, not 3/);
});

test('flags win over the file, one field of the model at a time', () => {
  const parsed = parseSpec({
    text: 'name: a\nbenchmark: mini\nstrategy: zero-shot\nmodel: {name: m, endpoint: there}\n',
    file: 'x.yaml',
    overrides: { name: 'b', limit: 2, model: { name: 'n' } },
  });
  assert.ok(parsed.kind === 'spec');
  assert.deepEqual(
    [parsed.spec.name, parsed.spec.limit, parsed.spec.model.name, parsed.spec.model.endpoint],
    ['b', 2, 'n', 'there'],
  );
});
