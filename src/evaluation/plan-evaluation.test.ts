import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Problem } from '../problems/problem.ts';
import { planEvaluation } from './plan-evaluation.ts';
import type { Sample } from './sample.ts';
import { SamplesError } from './samples-error.ts';

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `MBPP/${from + index}`);

function benchmark(name: string, taskIds: string[], form: Problem['form'] = 'description') {
  const problem = (taskId: string): Problem => ({
    taskId,
    kind: 'function',
    entryPoint: 'f',
    form,
    statement: 'def f():\n    """Prompt."""\n',
    preamble: '',
    visibleTests: [],
  });
  return { name, taskIds, problem };
}
const mbpp = benchmark('mbpp', range(11, 20));
const part = benchmark('mbpp+', range(11, 14));
const other = benchmark('sanitized', range(8, 12));

function samples(...tasks: string[]): Sample[] {
  return tasks.map((task, index) => ({ task, form: 'solution', text: `# ${task}`, where: `s.jsonl:${index + 1}` }));
}
const plan = (target: typeof mbpp, given: Sample[], others = [mbpp, part, other].filter((set) => set !== target)) =>
  planEvaluation({ target, samples: given, others });

describe('a plan', () => {
  test('takes Mbpp/12, MBPP/12 and 12 for one task, and numbers its samples', () => {
    const { samples: planned } = plan(mbpp, samples('Mbpp/12', '13', 'MBPP/12', ' 12'));
    assert.deepEqual(
      planned.map(({ taskId, sample }) => [taskId, sample]),
      [
        ['MBPP/12', 0],
        ['MBPP/13', 0],
        ['MBPP/12', 1],
        ['MBPP/12', 2],
      ],
    );
  });

  test('one program of one task is one, whoever spells the id how; the same text of another task is another', () => {
    const given = samples('Mbpp/12', 'MBPP/12', 'MBPP/13').map((sample) => ({ ...sample, text: 'x = "\ud800"' }));
    given.push({ task: '12', form: 'solution', text: 'x = "\ufffd"', where: 's.jsonl:4' });
    const { samples: planned, programs } = plan(mbpp, given);
    assert.deepEqual(
      planned.map(({ sha256 }) => planned.findIndex((sample) => sample.sha256 === sha256)),
      [0, 0, 2, 3],
    );
    assert.equal(programs.size, 3);
  });

  test('a completion follows a prompt that is a program, and stands alone after one in prose', () => {
    const completion: Sample = { task: '11', form: 'completion', text: '    return 1', where: '' };
    const program = (target: typeof mbpp) => [...plan(target, [completion]).programs.values()][0];
    assert.equal(program(mbpp), '    return 1');
    assert.equal(program(benchmark('he', ['HumanEval/11'], 'completion')), 'def f():\n    """Prompt."""\n    return 1');
  });
});

describe('samples of another set are refused, with both sizes', () => {
  const refused = (target: typeof mbpp, given: Sample[]): SamplesError => {
    try {
      plan(target, given);
    } catch (error) {
      assert.ok(error instanceof SamplesError);
      return error;
    }
    assert.fail('it was planned');
  };

  test('a larger one', () => {
    const { message, remedy, details } = refused(part, samples(...mbpp.taskIds));
    assert.match(message, /of 10 tasks, of which 6 are not among the 4 tasks of mbpp\+/);
    assert.match(remedy, /10 tasks of mbpp: try --benchmark mbpp$/);
    assert.deepEqual(details, [
      's.jsonl:5: "MBPP/15"',
      's.jsonl:6: "MBPP/16"',
      's.jsonl:7: "MBPP/17"',
      's.jsonl:8: "MBPP/18"',
      's.jsonl:9: "MBPP/19"',
      'and 1 more',
    ]);
  });

  test('exactly a smaller one; a part of it is a part of either', () => {
    assert.match(refused(mbpp, samples(...part.taskIds)).message, /exactly the 4 tasks of mbpp\+, not of the 10 tasks/);
    assert.equal(plan(mbpp, samples('11', '12', '13')).samples.length, 3);
  });

  test('one that nobody knows', () => {
    const { message, remedy } = refused(mbpp, samples('MBPP/11', 'HumanEval/0'));
    assert.match(message, /of 2 tasks, of which 1 is not among the 10 tasks of mbpp/);
    assert.match(remedy, /ids look like MBPP\/11/);
  });
});
