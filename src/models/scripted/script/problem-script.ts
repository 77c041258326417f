/** A program the scripted model may write. `canonical` needs no entry: it is the bundled problem's own solution. */
export interface ScriptedProgram {
  code: string;
  /** Whether it passes the hidden tests; a test of this folder runs it and checks. */
  right: boolean;
}

/** An assert, or standard input and what must be printed. */
export type ScriptedTest = string | { stdin: string; stdout: string };

export interface ScriptedTests {
  /** Tests the judge keeps. All agree with the statement, but for those also listed in `wrongKept`. */
  kept: readonly ScriptedTest[];
  /** Tests the judge throws away. All disagree with the statement, but for those also listed in `rightDropped`. */
  dropped: readonly ScriptedTest[];
  wrongKept?: readonly ScriptedTest[] | undefined;
  rightDropped?: readonly ScriptedTest[] | undefined;
}

/** What the scripted model says about one bundled problem. Programs go by name. */
export interface ProblemScript {
  taskId: string;
  /** What comes of it under the default options (Standard): does the zero-shot program pass, does QualityFlow's, and where does it stop. */
  expected: {
    zeroShot: boolean;
    qualityFlow: boolean;
    finalStep: 'generated' | 'debug1' | 'debug2' | 'debug3' | 'clarified' | 'reverted';
  };
  programs?: Readonly<Record<string, ScriptedProgram>> | undefined;
  /** By generator prompt 0–5; the last one repeats. */
  generated: readonly string[];
  /**
   * By program: the values imagined for visible tests, by index of the test, where they are not what the test expects. A program is
   * accepted exactly when it has no entry.
   */
  imagined?: Readonly<Record<string, Readonly<Record<number, string>>>> | undefined;
  /** Tests designed, the same for every query. No two ask for the same input, and none for that of a visible test. */
  tests: ScriptedTests;
  /** By debug prompt; the last one repeats. Without it a program comes back as it was. */
  debugged?: readonly string[] | undefined;
  /** By attempt; the last one repeats. `statement` is found again in the generator's prompt, so it must be its own. */
  clarified?: readonly { statement: string; program: string }[] | undefined;
}
