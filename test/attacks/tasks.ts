import { randomBytes } from 'node:crypto';
import { gradeHidden } from '../../src/grading/grade-hidden.ts';
import type { Graded } from '../../src/grading/verdict.ts';
import type { HiddenTests } from '../../src/problems/hidden-tests.ts';
import type { Problem } from '../../src/problems/problem.ts';
import { DEFAULT_LIMITS, type Sandbox, type SandboxLimits } from '../../src/sandbox/sandbox.ts';
import type { AttackTask } from './attack.ts';

/** Short, so that programs that hang do not govern the suite's time: 3 s on the wall clock each. */
export const ATTACK_LIMITS: SandboxLimits = { ...DEFAULT_LIMITS, cpuSeconds: 0.3 };

const SQUARE = 'def f(x):\n  return x * x + 7\n';
const squares = [1, 2, 3, 10, -4];

const evalplus = (canonical: string, inputs: number[]): HiddenTests => ({
  kind: 'evalplus',
  dataset: 'humaneval+',
  taskId: 'HumanEval/999',
  baseInputs: JSON.stringify(inputs.slice(0, 2).map((x) => [x])),
  plusInputs: JSON.stringify(inputs.slice(2).map((x) => [x])),
  atol: '0',
  contract: '',
  canonical,
});

const secret = `zq-${randomBytes(12).toString('hex')}`;
const SECRET = `def f(n):\n  return "${secret}"\n`;

/** The hidden tests of each task, and a program that is right. */
export const TASKS: Record<AttackTask, { hidden: HiddenTests[]; right: string }> = {
  square: {
    right: SQUARE,
    hidden: [
      evalplus(SQUARE, squares),
      { kind: 'asserts', setup: '', asserts: squares.map((x) => `assert f(${x}) == ${x * x + 7}`), canonical: SQUARE },
    ],
  },
  secret: {
    right: SECRET,
    hidden: [
      evalplus(SECRET, squares),
      { kind: 'check', source: `def check(candidate):\n    assert candidate(1) == "${secret}"\n`, canonical: SECRET },
    ],
  },
  stdio: {
    right: 'x = int(input())\nprint(x * x + 7)\n',
    hidden: [
      {
        kind: 'stdio',
        cases: squares.map((x) => ({ stdin: `${x}\n`, stdout: `${x * x + 7}\n` })),
        canonical: '',
      },
    ],
  },
  'in-process': {
    right: 'def f(x):\n  x.sort()\n',
    hidden: [
      {
        kind: 'asserts',
        setup: '',
        asserts: ['data = [3, 1, 2]\nf(data)\nassert data == [1, 2, 3]'],
        canonical: 'def f(x):\n  x.sort()\n',
      },
    ],
  },
};

const hurried = (sandbox: Sandbox): Sandbox => ({
  ...sandbox,
  runCalls: (job) => sandbox.runCalls({ ...job, limits: ATTACK_LIMITS, slowCalls: undefined }),
  runStdio: (job) => sandbox.runStdio({ ...job, limits: ATTACK_LIMITS }),
});

/** One `Graded` for each kind of hidden tests of the task. */
export async function gradeOn(sandbox: Sandbox, task: AttackTask, source: string): Promise<Graded[]> {
  const problem: Problem = {
    taskId: 'attacked',
    kind: task === 'stdio' ? 'stdio' : 'function',
    entryPoint: task === 'stdio' ? '' : 'f',
    form: 'description',
    statement: '',
    preamble: '',
    visibleTests: [],
  };
  const grades: Graded[] = [];
  for (const hidden of TASKS[task].hidden) {
    grades.push(...(await gradeHidden({ sandbox: hurried(sandbox), problem, hidden, programs: [source] })));
  }
  return grades;
}
