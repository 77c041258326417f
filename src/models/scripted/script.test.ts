import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { type MiniTask, readMini } from '../../problems/mini/mini.ts';
import { bundledTasks } from './bundled.ts';
import { SCRIPT } from './script/index.ts';

const tasks = readMini();
const examples = new Map(bundledTasks().map((task) => [task.taskId, task.examples]));
const pythonMissing = spawnSync('python3', ['--version']).error === undefined ? false : 'no python3';

type Case = string | { stdin: string; stdout: string };

interface Job {
  code: string;
  setup: string;
  cases: Case[];
}

/** Runs our own programs, all in one Python, each case in a fresh namespace; true where a case passes. Only ever given this folder's code. */
const RUNNER = `
import contextlib, io, json, sys

def passes(job, case):
    try:
        if isinstance(case, str):
            space = {}
            exec(job['code'], space)
            exec(job['setup'], space)
            exec(case, space)
            return True
        sys.stdin, printed = io.StringIO(case['stdin']), io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(job['code'], {'__name__': '__main__'})
        return printed.getvalue().split() == case['stdout'].split()
    except BaseException:
        return False

print(json.dumps([[passes(job, case) for case in job['cases']] for job in json.load(sys.stdin)]))
`;

function run(jobs: Job[]): boolean[][] {
  const done = spawnSync('python3', ['-I', '-c', RUNNER], {
    input: JSON.stringify(jobs),
    timeout: 60_000,
    encoding: 'utf8',
  });
  assert.equal(done.status, 0, done.stderr);
  return JSON.parse(done.stdout);
}

function visibleCases(task: MiniTask): Case[] {
  return (
    task.visible_tests ??
    (examples.get(task.task_id) ?? []).map(({ asked, expected }) => `assert (${asked}) == (${expected})`)
  );
}

function taskOf(taskId: string): MiniTask {
  const found = tasks.find((task) => task.task_id === taskId);
  assert.ok(found, taskId);
  return found;
}

function codeOf(taskId: string, program: string): string {
  const scripted = SCRIPT.find((script) => script.taskId === taskId)?.programs?.[program]?.code;
  const code = program === 'canonical' ? taskOf(taskId).canonical_solution : scripted;
  assert.ok(code !== undefined, `${taskId} has no program ${program}`);
  return code;
}

/** Stands apart from the answers: a plain reading of Algorithm 1 over the script's names. `passes` says what runs of kept tests give. */
function follow(
  script: (typeof SCRIPT)[number],
  passesKept: (program: string) => boolean,
): { program: string; finalStep: string } {
  const at = <T>(list: readonly T[], index: number): T | undefined => list[Math.min(index, list.length - 1)];
  const accepted = (program: string | undefined) => program !== undefined && script.imagined?.[program] === undefined;
  const generated = [0, 1, 2, 3, 4, 5].map((prompt) => at(script.generated, prompt) ?? '');
  const first = generated.find(accepted);
  if (first !== undefined) return { program: first, finalStep: 'generated' };
  if (script.tests.kept.length > 0) {
    const going = new Set(generated.keys());
    for (const epoch of [0, 1, 2]) {
      for (const progression of generated.keys()) {
        if (!going.has(progression)) continue;
        const program = at(script.debugged ?? [], epoch) ?? generated[progression] ?? '';
        if (accepted(program)) return { program, finalStep: `debug${epoch + 1}` };
        if (passesKept(program)) going.delete(progression);
      }
    }
  }
  const clarified = (script.clarified ?? []).find(({ program }) => accepted(program));
  return clarified === undefined
    ? { program: generated[0] ?? '', finalStep: 'reverted' }
    : { program: clarified.program, finalStep: 'clarified' };
}

test('every bundled problem has exactly one script', () => {
  assert.deepEqual(SCRIPT.map(({ taskId }) => taskId).sort(), tasks.map(({ task_id }) => task_id).sort());
});

test('hidden tests are at least five and none of them is visible', () => {
  for (const task of tasks) {
    const seen = new Set(visibleCases(task).map((one) => JSON.stringify(one)));
    assert.ok(task.hidden_tests.length >= 5, task.task_id);
    assert.ok(visibleCases(task).length >= 2, task.task_id);
    for (const hidden of task.hidden_tests)
      assert.ok(!seen.has(JSON.stringify(hidden)), `${task.task_id}: ${JSON.stringify(hidden)}`);
  }
});

test('reference solutions pass every visible and hidden test', { skip: pythonMissing }, () => {
  const jobs = tasks.map((task) => ({
    code: task.canonical_solution,
    setup: task.setup ?? '',
    cases: [...visibleCases(task), ...task.hidden_tests],
  }));
  for (const [index, results] of run(jobs).entries())
    assert.ok(results.every(Boolean), `${tasks[index]?.task_id}: ${results.join(' ')}`);
});

test('programs marked right pass the hidden tests and programs marked wrong do not', { skip: pythonMissing }, () => {
  const programs = SCRIPT.flatMap(({ taskId, programs = {} }) =>
    Object.entries(programs).map(([name, { code, right }]) => ({ taskId, name, code, right })),
  );
  const results = run(
    programs.map(({ taskId, code }) => ({
      code,
      setup: taskOf(taskId).setup ?? '',
      cases: taskOf(taskId).hidden_tests,
    })),
  );
  for (const [index, { taskId, name, right }] of programs.entries())
    assert.equal(results[index]?.every(Boolean), right, `${taskId} ${name}`);
});

test('designed tests are right or wrong as the script says', { skip: pythonMissing }, () => {
  const designed = SCRIPT.flatMap(({ taskId, tests }) => [
    ...tests.kept.map((source) => ({ taskId, source, right: !tests.wrongKept?.includes(source) })),
    ...tests.dropped.map((source) => ({ taskId, source, right: tests.rightDropped?.includes(source) ?? false })),
  ]);
  const results = run(
    designed.map(({ taskId, source }) => ({
      code: taskOf(taskId).canonical_solution,
      setup: taskOf(taskId).setup ?? '',
      cases: [source],
    })),
  );
  for (const [index, { taskId, source, right }] of designed.entries())
    assert.equal(results[index]?.[0], right, `${taskId}: ${JSON.stringify(source)}`);
});

test('a program that is rejected is rejected by a wrong value', () => {
  for (const { taskId, imagined = {} } of SCRIPT) {
    for (const [program, values] of Object.entries(imagined)) {
      assert.ok(Object.keys(values).length > 0);
      for (const [index, value] of Object.entries(values)) {
        const example = examples.get(taskId)?.[Number(index)];
        assert.ok(example !== undefined && example.expected !== value, `${taskId} ${program} ${index}`);
      }
    }
  }
});

/** Every program of the script on the hidden tests and on the tests that are kept, in one run. */
function allResults(): Map<string, { hidden: boolean; kept: boolean[] }> {
  const programs = SCRIPT.flatMap(({ taskId, programs, tests }) => {
    const task = taskOf(taskId);
    const kept: Case[] = [...tests.kept];
    return ['canonical', ...Object.keys(programs ?? {})].map((name) => ({
      id: `${taskId} ${name}`,
      code: codeOf(taskId, name),
      task,
      kept,
    }));
  });
  const results = run(
    programs.map(({ code, task, kept }) => ({ code, setup: task.setup ?? '', cases: [...task.hidden_tests, ...kept] })),
  );
  return new Map(
    programs.map(({ id, task }, index) => {
      const one = results[index] ?? [];
      return [
        id,
        { hidden: one.slice(0, task.hidden_tests.length).every(Boolean), kept: one.slice(task.hidden_tests.length) },
      ];
    }),
  );
}

test('following Algorithm 1 ends where the script says, with the result it says', { skip: pythonMissing }, () => {
  const results = allResults();
  const finalSteps = new Set<string>();
  for (const script of SCRIPT) {
    const { taskId, expected } = script;
    const end = follow(script, (program) => results.get(`${taskId} ${program}`)?.kept.every(Boolean) === true);
    assert.equal(end.finalStep, expected.finalStep, taskId);
    assert.equal(results.get(`${taskId} ${end.program}`)?.hidden, expected.qualityFlow, `${taskId}: QualityFlow`);
    assert.equal(results.get(`${taskId} ${script.generated[0]}`)?.hidden, expected.zeroShot, `${taskId}: zero-shot`);
    finalSteps.add(end.finalStep);
    if (script.tests.kept.length > 0 && expected.finalStep !== 'generated') {
      for (const program of script.generated) {
        assert.ok(
          results.get(`${taskId} ${program}`)?.kept.includes(false),
          `${taskId}: nothing to debug in ${program}`,
        );
      }
    }
  }
  assert.deepEqual([...finalSteps].sort(), ['clarified', 'debug1', 'debug2', 'debug3', 'generated', 'reverted']);
});

test('the script holds what the two strategies should score', () => {
  const count = (which: 'zeroShot' | 'qualityFlow') => SCRIPT.filter(({ expected }) => expected[which]).length;
  assert.deepEqual([tasks.length, count('zeroShot'), count('qualityFlow')], [24, 13, 20]);
});
