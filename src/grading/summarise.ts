import type { Graded, TestResult, Verdict } from './verdict.ts';

/**
 * A submission's verdict from its results in test order: the first test that the program failed decides; one that was not run because the
 * program had ended badly before is failed, too. Without one, an unusable test, or no test at all, is `invalid_test`: a pass needs every test.
 */
export function summarise(results: readonly TestResult[]): Graded {
  const passed = results.filter((result) => result.status === 'pass').length;
  const decided = results.findIndex((result) => failureVerdict(result.status) !== undefined);
  const looked = decided < 0 ? results : results.slice(0, decided + 1);
  const near = looked.some((result) => result.nearLimit === true);
  const counts = { tests: results.length, passed, ...(near ? { nearLimit: true as const } : {}) };
  for (const result of results) {
    const verdict = failureVerdict(result.status);
    if (verdict !== undefined)
      return { verdict, ...counts, firstFailure: result, ...markIf(result.forgeable === true) };
  }
  if (results.length > 0 && passed === results.length)
    return { verdict: 'pass', ...counts, ...markIf(results.some((result) => result.forgeable === true)) };
  return { verdict: 'invalid_test', ...counts, firstFailure: results.find((result) => result.status !== 'pass') };
}

function markIf(forgeable: boolean): { forgeable?: true } {
  return forgeable ? { forgeable } : {};
}

function failureVerdict(status: TestResult['status']): Exclude<Verdict, 'pass' | 'invalid_test'> | undefined {
  switch (status) {
    case 'pass':
    case 'invalid_test':
      return undefined;
    case 'not_run':
      return 'error';
    case 'fail':
      return 'wrong';
    case 'error':
    case 'timeout':
    case 'memory_limit':
    case 'output_limit':
      return status;
  }
}
