/** What happened when one program met one test. Expected and actual values are bounded reprs, for people and for the self-debugger. */
export interface TestResult {
  status:
    | 'pass'
    | 'fail'
    | 'error'
    | 'timeout'
    | 'memory_limit'
    | 'output_limit'
    | 'not_run'
    | /** the test itself is unusable: no syntax, no call of the entry point */ 'invalid_test';
  /** The test as a person reads it; bounded. */
  test: string;
  actual?: string | undefined;
  expected?: string | undefined;
  /** `ValueError: boom (line 3)` */
  exception?: string | undefined;
  /** What the program printed in this test, where that was asked for; bounded. */
  printed?: string | undefined;
  /** The verdict came from the candidate's own process, because the test cannot be replayed over recorded outputs. */
  forgeable?: true | undefined;
  /** The program used more than three quarters of a limit of time: a slower day may turn this into a `timeout`. */
  nearLimit?: true | undefined;
}

/** A submission's verdict (architecture §7). `invalid_test`: the benchmark's tests could not be run at all. */
export type Verdict = 'pass' | 'wrong' | 'error' | 'timeout' | 'memory_limit' | 'output_limit' | 'invalid_test';

/** A graded submission: its verdict, and the first test that decided against it. `tests` = 0 is never a pass. */
export interface Graded {
  verdict: Verdict;
  tests: number;
  passed: number;
  firstFailure?: TestResult | undefined;
  /** EvalPlus benchmarks: verdict over the base tests alone. */
  base?: Verdict | undefined;
  /** The verdict rests on the program's own process: a pass in which any test ran there, or a failure whose deciding test did. */
  forgeable?: true | undefined;
  /** Some test up to the one that decided came near its limit of time. */
  nearLimit?: true | undefined;
}
