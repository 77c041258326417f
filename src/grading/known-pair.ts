import type { HiddenTests } from '../problems/hidden-tests.ts';
import type { Problem } from '../problems/problem.ts';
import { type Sandbox, SandboxError } from '../sandbox/sandbox.ts';
import { gradeHidden } from './grade-hidden.ts';
import type { Verdict } from './verdict.ts';

type GraderProof = { kind: 'ok' } | { kind: 'broken'; reason: string };

const KNOWN_GOOD = 'def triple(x):\n    return 3 * x\n';

/** Programs that must not pass, each for a reason of its own, with the verdict they must get. */
const KNOWN_BAD: { what: string; source: string; verdict: Verdict }[] = [
  { what: 'a wrong program', source: 'def triple(x):\n    return 3 * x + (x > 1)\n', verdict: 'wrong' },
  { what: 'a program that raises', source: 'def triple(x):\n    raise ValueError(x)\n', verdict: 'error' },
  {
    what: 'a program that exits with status 0',
    source: 'import os\ndef triple(x):\n    os._exit(0)\n',
    verdict: 'error',
  },
  {
    what: 'a program whose result equals everything',
    source:
      'class Any(int):\n    def __eq__(self, other):\n        return True\n    __hash__ = int.__hash__\ndef triple(x):\n    return Any(1)\n',
    verdict: 'wrong',
  },
];

const problem: Problem = {
  taskId: 'known-pair',
  kind: 'function',
  entryPoint: 'triple',
  form: 'description',
  statement: '',
  preamble: '',
  visibleTests: [],
};

const hidden: HiddenTests[] = [
  {
    kind: 'check',
    source: 'def check(candidate):\n    assert candidate(1) == 3\n    assert candidate(2) == 6\n',
    canonical: KNOWN_GOOD,
  },
  { kind: 'asserts', setup: '', asserts: ['assert triple(1) == 3', 'assert triple(2) == 6'], canonical: KNOWN_GOOD },
  {
    kind: 'evalplus',
    dataset: 'humaneval+',
    taskId: 'HumanEval/0',
    baseInputs: '[[1], [2]]',
    plusInputs: '[[3], [10]]',
    atol: '0',
    contract: '',
    canonical: KNOWN_GOOD,
  },
];

/**
 * Proves the grader before anything is graded: a broken sandbox otherwise looks like a bad model (all fail) or a perfect one (all pass).
 * Failures of the infrastructure are thrown as `SandboxError`.
 */
export async function proveGrader({
  sandbox,
  kind,
}: {
  sandbox: Sandbox;
  /** Only the way of grading that these tests have; by default all ways. */
  kind?: HiddenTests['kind'] | undefined;
}): Promise<GraderProof> {
  const programs = [KNOWN_GOOD, ...KNOWN_BAD.map((bad) => bad.source)];
  const ofKind = hidden.filter((tests) => tests.kind === kind);
  const asked = ofKind.length === 0 ? hidden : ofKind;
  const grades = await Promise.allSettled(
    asked.map((tests) => gradeHidden({ sandbox, problem, hidden: tests, programs })),
  );
  for (const [index, tests] of asked.entries()) {
    const settled = grades[index];
    if (settled?.status === 'rejected') throw settled.reason;
    const [good, ...bad] = settled?.value ?? [];
    if (good?.verdict !== 'pass')
      return broken(
        `a correct program got ${good?.verdict ?? 'no verdict'} on ${tests.kind} tests`,
        good?.firstFailure?.exception,
      );
    for (const [index, { what, verdict }] of KNOWN_BAD.entries()) {
      const graded = bad[index];
      if (graded?.verdict !== verdict) {
        return broken(
          `${what} got ${graded?.verdict ?? 'no verdict'} instead of ${verdict} on ${tests.kind} tests`,
          graded?.firstFailure?.exception,
        );
      }
    }
  }
  return { kind: 'ok' };
}

/** Refuses to grade where `proveGrader` finds fault: a `SandboxError`. */
export async function requireSoundGrader(job: Parameters<typeof proveGrader>[0]): Promise<void> {
  const proof = await proveGrader(job);
  if (proof.kind === 'broken') throw new SandboxError(`the grader cannot be trusted on this machine: ${proof.reason}`);
}

function broken(what: string, detail: string | undefined): GraderProof {
  return { kind: 'broken', reason: detail === undefined ? what : `${what}: ${detail}` };
}
