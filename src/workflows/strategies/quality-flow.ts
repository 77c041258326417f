import type { ClarifierEvidence, Solution, Step, Test } from '../../activities/contract.ts';
import type { TestResult } from '../../grading/verdict.ts';
import type { Problem } from '../../problems/problem.ts';
import type { QualityFlowOptions } from '../../spec/spec.ts';
import { codeQualityChecker } from '../code-quality-checker.ts';
import { indices, inParallel } from '../parallel.ts';
import type { Steps } from '../steps.ts';
import { designAndFilterTests, type TestPool } from '../test-pool.ts';
import { type Candidate, nothingToSubmit, Trail } from '../trail.ts';

/** One a debug epoch; each has a prompt of its own, because a restart with the same one could only repeat itself (algorithms 1.6 A). */
const DEBUG_STEPS = ['debug1', 'debug2', 'debug3'] as const;

/** What one progression has come to: its generated program, its newest, and how that one did on the synthesised tests. */
interface Progression {
  index: number;
  generated: string;
  latest: string;
  results: TestResult[];
  earlier: ClarifierEvidence['earlier'];
}

/**
 * QualityFlow, Algorithm 1 of arXiv 2501.17167 with Diversified Prompting (Appendix A): generate → check → design tests → filter
 * tests → self-debug → clarify → revert. `options.diversified` progressions walk side by side, stage by stage; the first program that
 * the Code Quality Checker accepts, in prompt order, is submitted (algorithms 1.6 D).
 */
export async function qualityFlow(problem: Problem, options: QualityFlowOptions, steps: Steps): Promise<Solution> {
  const check = codeQualityChecker(problem, options, steps);
  const trail = new Trail();

  /** CQC(…): puts one stage's programs on the trail; a Solution when one of them is accepted. */
  async function accepted(step: Step, round: number, candidates: Candidate[]): Promise<Solution | undefined> {
    const name = round > 0 && step === 'clarified' ? `clarify${round}` : step;
    return trail.add(
      step,
      round,
      candidates,
      await check(
        name,
        candidates.map(({ code }) => code),
      ),
    );
  }

  // g = CodeGenerator(problem, visibleTests); if CQC(g): return g
  const answers = await inParallel(indices(options.diversified), (prompt) =>
    steps.generateProgram({ step: `generate/${prompt}`, prompt }),
  );
  const progressions: Progression[] = answers.flatMap((answer, index) =>
    answer.kind === 'program' ? [{ index, generated: answer.code, latest: answer.code, results: [], earlier: [] }] : [],
  );
  if (progressions.length === 0) return nothingToSubmit(answers.filter((answer) => answer.kind === 'unusable'));
  steps.enter('check');
  const generated = await accepted(
    'generated',
    0,
    progressions.map(({ index, generated: code }) => ({ progression: index, code })),
  );
  if (generated) return generated;

  // T = TestDesigner(problem, visibleTests); T' = TestQualityChecker(T)
  const pool = await designAndFilterTests(
    progressions.map(({ index }) => index),
    options,
    steps,
  );

  // for attempt in 1..MaxAttempts: d = SelfDebugger(g, T'); if CQC(d): return d
  const debugged = await selfDebug(progressions, pool);
  if (debugged) return debugged;

  // P2 = ProblemClarifier(…); c = CodeGenerator(P2); if CQC(c): return c
  if (options.clarifier) {
    const clarified = await clarify(progressions, pool);
    if (clarified) return clarified;
  }

  // return g (Revert)
  if (!options.revert) return trail.submitLatest(0);
  steps.enter('revert');
  return options.onRevert === 'aces' ? revertByTests(pool) : trail.revert(0);

  /** Our own: the program that ACES ranks first by all designed tests that were kept, instead of the first one. */
  async function revertByTests({ testsOf }: TestPool): Promise<Solution> {
    const tests = [...new Set(progressions.map(({ index }) => testsOf(index)))].flat();
    const programs = trail.programs();
    const toFirst = trail.revert(0, 'reverted to the first program: there is no designed test to rank by');
    if (tests.length === 0) return toFirst;
    const matrix = await steps.runPool({
      step: 'revert/pool',
      programs: { programs },
      tests: { tests },
      summary: `run ${tests.length} tests on all ${programs.length} programs`,
    });
    if (matrix.tests === 0) return toFirst;
    const ranked = { pool: matrix.step, method: 'aces-o', prefilter: 'none', submit: 1 } as const;
    const { top } = await steps.rankPool({ step: 'revert/rank', ...ranked });
    const note = `ACES ranks it first of ${programs.length} programs on ${matrix.tests} designed ${matrix.tests === 1 ? 'test' : 'tests'}`;
    return trail.revertTo(top[0] ?? 0, note);
  }

  async function selfDebug(all: Progression[], { testsOf }: TestPool): Promise<Solution | undefined> {
    const debuggable = all.filter(({ index }) => testsOf(index).length > 0);
    if (debuggable.length === 0 || options.debugEpochs === 0) return undefined;
    steps.enter('debug');
    await runTests('debug/0', debuggable, testsOf, (progression) => progression.generated);
    /** What literal Algorithm 1 debugs in each epoch: the generator's program, with its failures. */
    const firstResults = new Map(debuggable.map(({ index, results }) => [index, results]));
    let active = debuggable.filter(({ results }) => results.some(fails));

    for (const [prompt, step] of DEBUG_STEPS.slice(0, options.debugEpochs).entries()) {
      if (active.length === 0) break;
      const epoch = prompt + 1;
      const revisions = await inParallel(active, ({ index, generated: first, latest, results }) =>
        steps.debugProgram({
          step: `${step}/${index}`,
          code: options.carryForward ? latest : first,
          results: (options.carryForward ? results : (firstResults.get(index) ?? [])).filter(fails),
          prompt,
          summary: `debug ${epoch} of ${options.debugEpochs}, progression ${index + 1}`,
        }),
      );
      const revised = active.filter((progression, position) => {
        const revision = revisions[position];
        if (revision?.kind === 'program') progression.latest = revision.code;
        return revision?.kind === 'program';
      });
      const solution = await accepted(
        step,
        epoch,
        revised.map(({ index, latest }) => ({ progression: index, code: latest })),
      );
      if (solution) return solution;
      // A program that passes every synthesised test has nothing left to debug (algorithms 1.6 B).
      await runTests(`debug/${epoch}`, revised, testsOf, ({ latest }) => latest);
      active = active.filter(({ results }) => results.some(fails));
    }
    return undefined;
  }

  async function runTests(
    step: string,
    some: Progression[],
    testsOf: TestPool['testsOf'],
    codeOf: (progression: Progression) => string,
  ): Promise<void> {
    // Progressions share one pool, or each has its own: one sandbox job a distinct pool.
    const groups = new Map<readonly Test[], Progression[]>();
    for (const progression of some) {
      const tests = testsOf(progression.index);
      groups.set(tests, [...(groups.get(tests) ?? []), progression]);
    }
    await inParallel([...groups], async ([tests, group], index) => {
      const rows = await steps.runPrograms({
        step: `${step}/run/${index}`,
        programs: group.map(codeOf),
        tests: [...tests],
        summary: `run ${tests.length} tests on ${group.length} programs`,
      });
      group.forEach((progression, position) => {
        progression.results = (rows[position] ?? []).filter(({ status }) => status !== 'invalid_test');
      });
    });
  }

  async function clarify(all: Progression[], { evidenceOf }: TestPool): Promise<Solution | undefined> {
    steps.enter('clarify');
    for (let attempt = 1; attempt <= options.clarifierAttempts; attempt += 1) {
      const regenerated = await inParallel(all, async (progression) => {
        const { index, latest, results, earlier } = progression;
        const clarification = await steps.clarifyProblem({
          step: `clarify${attempt}/${index}`,
          evidence: { code: latest, tests: evidenceOf(index), results: results.filter(fails), earlier },
          summary: `clarify ${attempt} of ${options.clarifierAttempts}, progression ${index + 1}`,
        });
        if (clarification === undefined) return [];
        const answer = await steps.generateProgram({
          step: `regenerate${attempt}/${index}`,
          prompt: index,
          clarification,
          avoid: latest,
        });
        if (answer.kind !== 'program') return [];
        progression.earlier = [...earlier, { clarification, code: answer.code }];
        progression.latest = answer.code;
        return [{ progression: index, code: answer.code }];
      });
      const solution = await accepted('clarified', attempt, regenerated.flat());
      if (solution) return solution;
    }
    return undefined;
  }
}

function fails(result: TestResult): boolean {
  return result.status !== 'pass' && result.status !== 'invalid_test';
}
