import type { Problem } from '../problems/problem.ts';
import type { QualityFlowOptions } from '../spec/spec.ts';
import { inParallel } from './parallel.ts';
import type { Steps } from './steps.ts';

/** For each program: accept, reject, or null where nothing checks. `step` names the stage it belongs to. */
export type CodeQualityChecker = (step: string, programs: readonly string[]) => Promise<(boolean | null)[]>;

/**
 * The CQC in its four forms (paper §3.4, Table 5). `imagined`: Imagined Execution, accept iff every visible test's predicted output
 * equals the asserted one (Standard). `python`: the visible tests are executed (Relaxed). `critic`: a yes/no classifier.
 * `none`: nothing terminates. A problem without visible tests gives nothing to check against: reject (algorithms 1.6 L).
 * Equal programs of one stage are checked once: they could only give equal requests.
 */
export function codeQualityChecker(problem: Problem, options: QualityFlowOptions, steps: Steps): CodeQualityChecker {
  const tests = problem.visibleTests;

  async function imagined(step: string, programs: string[]): Promise<boolean[]> {
    const cells = programs.flatMap((code, program) => tests.map((test, index) => ({ code, program, test, index })));
    const predictions = await inParallel(cells, ({ code, program, test, index }) =>
      steps.imagineExecution({
        step: `${step}/${program}/test/${index}`,
        code,
        test,
        showProblem: options.checkerSeesProblem,
        summary: `imagine test ${index + 1} of ${tests.length} on program ${program + 1} (${step})`,
      }),
    );
    const readable = predictions.filter((prediction) => prediction !== undefined);
    const equal =
      readable.length === 0
        ? []
        : await steps.comparePredictions({
            step: `${step}/compare`,
            predictions: readable,
            summary: `compare ${readable.length} imagined outputs (${step})`,
          });
    let next = 0;
    const holds = predictions.map((prediction) => prediction !== undefined && equal[next++] === true);
    return programs.map((_, program) => tests.every((_test, index) => holds[program * tests.length + index] === true));
  }

  async function executed(step: string, programs: string[]): Promise<boolean[]> {
    const rows = await steps.runPrograms({
      step,
      programs,
      tests,
      summary: `run ${tests.length} visible tests on ${programs.length} programs (${step})`,
    });
    return rows.map((row) => row.length > 0 && row.every((result) => result.status === 'pass'));
  }

  function criticised(step: string, programs: string[]): Promise<boolean[]> {
    return inParallel(programs, (code, index) =>
      steps.criticiseProgram({ step: `${step}/${index}`, code, summary: `criticise program ${index + 1} (${step})` }),
    );
  }

  return async (step, programs) => {
    const { checker } = options;
    if (checker === 'none') return programs.map(() => null);
    if (tests.length === 0 && checker !== 'critic') return programs.map(() => false);
    const distinct = [...new Set(programs)];
    const check = checker === 'imagined' ? imagined : checker === 'python' ? executed : criticised;
    const verdicts = distinct.length === 0 ? [] : await check(`check/${step}`, distinct);
    const byProgram = new Map(distinct.map((code, index) => [code, verdicts[index] ?? false]));
    return programs.map((code) => byProgram.get(code) ?? false);
  };
}
