import { type ExpectedStore, knownSeconds } from '../grading/expected-outputs.ts';
import { gradeHidden } from '../grading/grade-hidden.ts';
import type { LimitsMode } from '../grading/limits.ts';
import type { HiddenTests } from '../problems/hidden-tests.ts';
import type { Problem } from '../problems/problem.ts';
import { type Isolation, type Sandbox, SandboxError } from '../sandbox/sandbox.ts';
import type { EvaluationPlan } from './plan-evaluation.ts';
import { type Grade, gradeOf, infraGrade } from './result-line.ts';

/** Programs of one task that are graded together. All their outputs are held at once, and EvalPlus's tasks return much. */
const TOGETHER = { evalplus: 4, other: 16 };
/** Tasks in a row that the machine could not grade: then it is not the task. */
const GIVE_UP_AFTER = 3;

interface Batch {
  taskId: string;
  shas: string[];
}

/** What is left to grade, task by task in the order of the samples. */
function batchesOf(plan: EvaluationPlan, known: ReadonlyMap<string, unknown>, size: number): Batch[] {
  const open = new Map<string, Set<string>>();
  for (const { taskId, sha256 } of plan.samples) {
    if (known.has(sha256)) continue;
    const shas = open.get(taskId) ?? new Set();
    shas.add(sha256);
    open.set(taskId, shas);
  }
  return [...open].flatMap(([taskId, all]) => {
    const shas = [...all];
    return Array.from({ length: Math.ceil(shas.length / size) }, (_, part) => ({
      taskId,
      shas: shas.slice(part * size, (part + 1) * size),
    }));
  });
}

/**
 * Grades every program once and tells each batch of grades as it comes. A batch that fails on the machine is tried again, then its programs are
 * `infra`; several of these in a row are a broken sandbox, and thrown, as is the signal's reason.
 */
export async function runEvaluation(job: {
  sandbox: Sandbox;
  benchmark: { problem(taskId: string): Problem };
  sealed: { hidden(taskId: string): HiddenTests };
  plan: EvaluationPlan;
  known: ReadonlyMap<string, Grade>;
  limits: LimitsMode;
  isolation?: Isolation | undefined;
  expected: ExpectedStore;
  /** Batches at once. */
  concurrency: number;
  signal: AbortSignal;
  onGrades: (grades: ReadonlyMap<string, Grade>) => void;
}): Promise<void> {
  const { sandbox, benchmark, sealed, plan, limits, expected, signal } = job;
  const [first] = plan.samples;
  const evalplus = first !== undefined && sealed.hidden(first.taskId).kind === 'evalplus';
  const batches = batchesOf(plan, job.known, evalplus ? TOGETHER.evalplus : TOGETHER.other);
  // A long task begun last would leave the other processors idle: one of MBPP+ takes a third of all time.
  const seconds = new Map<string, number>();
  for (const { taskId } of batches) {
    const hidden = sealed.hidden(taskId);
    if (hidden.kind !== 'evalplus' || seconds.has(taskId)) continue;
    const { entryPoint } = benchmark.problem(taskId);
    seconds.set(taskId, await knownSeconds({ sandbox, hidden, entryPoint, store: expected }));
  }
  const cost = ({ taskId, shas }: Batch) => (seconds.get(taskId) ?? 0) * shas.length;
  batches.sort((a, b) => cost(b) - cost(a));
  const waiting = batches.values();
  let failedInARow = 0;
  let failure: unknown;

  const grade = async ({ taskId, shas }: Batch): Promise<Map<string, Grade>> => {
    const graded = await gradeHidden({
      sandbox,
      problem: benchmark.problem(taskId),
      hidden: sealed.hidden(taskId),
      programs: shas.map((sha) => plan.programs.get(sha) ?? ''),
      limits,
      isolation: job.isolation,
      expected,
      signal,
    });
    return new Map(
      shas.map((sha, index) => {
        const found = graded[index];
        if (found === undefined) throw new Error(`no grade for a program of ${taskId}`);
        return [sha, gradeOf(found)];
      }),
    );
  };

  const work = async (): Promise<void> => {
    for (const batch of waiting) {
      let grades: Map<string, Grade>;
      try {
        grades = await grade(batch).catch((error: unknown) => {
          if (!(error instanceof SandboxError) || signal.aborted) throw error;
          return grade(batch);
        });
        failedInARow = 0;
      } catch (error) {
        if (!(error instanceof SandboxError) || signal.aborted || ++failedInARow >= GIVE_UP_AFTER) {
          failure ??= error;
          return;
        }
        const grade = infraGrade(error.message);
        grades = new Map(batch.shas.map((sha) => [sha, grade]));
      }
      if (failure !== undefined || signal.aborted) return;
      job.onGrades(grades);
    }
  };
  await Promise.all(Array.from({ length: job.concurrency }, work));
  signal.throwIfAborted();
  if (failure !== undefined) throw failure;
}
