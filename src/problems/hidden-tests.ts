/**
 * The sealed half of a task: read only by grading, inside `scoreSubmission` and `evaluate`.
 * Values of the datasets stay raw JSON or Python text: they never pass through JavaScript numbers.
 */
export type HiddenTests =
  /** HumanEval: Python source that defines `check(candidate)`. `canonical` is a whole reference program. */
  | { kind: 'check'; source: string; canonical: string }
  /** MBPP: `setup` (imports, setup code) runs before each of the assert statements. */
  | { kind: 'asserts'; setup: string; asserts: string[]; canonical: string }
  /**
   * HumanEval+ and MBPP+: raw JSON texts of argument lists (may hold Infinity and NaN, integers beyond 2^53). `dataset` chooses
   * EvalPlus's argument conversion and oracle; `taskId` is EvalPlus's own id ("HumanEval/32", "Mbpp/2").
   */
  | {
      kind: 'evalplus';
      dataset: 'humaneval+' | 'mbpp+';
      taskId: string;
      baseInputs: string;
      plusInputs: string;
      atol: string;
      contract: string;
      canonical: string;
    }
  | { kind: 'stdio'; cases: { stdin: string; stdout: string }[]; canonical: string };
