import { availableParallelism } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { graderVersion } from '../evaluation/grader-version.ts';
import { coversExactly, type EvaluationPlan, planEvaluation } from '../evaluation/plan-evaluation.ts';
import { parseSamples, readSamples } from '../evaluation/read-samples.ts';
import { type Grade, lineOf, type ResultLine } from '../evaluation/result-line.ts';
import { ResultsFile } from '../evaluation/results-file.ts';
import { runEvaluation } from '../evaluation/run-evaluation.ts';
import { summariseEvaluation } from '../evaluation/summarise-evaluation.ts';
import { expectedFolder } from '../grading/expected-folder.ts';
import { requireSoundGrader } from '../grading/known-pair.ts';
import { type LimitsMode, sandboxLimits, usualLimits } from '../grading/limits.ts';
import { type Benchmark, openBenchmark } from '../problems/benchmark.ts';
import { resolveDataDir } from '../problems/data-dir.ts';
import type { DatasetSource } from '../problems/dataset.ts';
import { type HiddenBenchmark, openHiddenTests } from '../problems/hidden.ts';
import { BENCHMARKS } from '../problems/problem.ts';
import type { Isolation, Sandbox } from '../sandbox/sandbox.ts';
import { prepareHome } from '../temporal/embedded/home.ts';
import { type Context, note, print, printJson } from './context.ts';
import { evaluationProgress } from './evaluation-progress.ts';
import { evaluationText } from './evaluation-text.ts';
import { type ExitCode, UserError } from './user-error.ts';
import { withSandbox } from './with-sandbox.ts';

/** `evaluate`: grades existing samples without Temporal or database. Exit 0 whatever the score; 3 when the machine could not grade all of them. */
export async function evaluateCommand(input: {
  context: Context;
  samples: string;
  benchmark: string;
  out?: string;
  k: string;
  workers?: string;
  limits?: LimitsMode;
  isolation?: Isolation;
  dataDir?: string;
  json?: boolean;
}): Promise<ExitCode> {
  const { context } = input;
  const ks = readKs(input.k);
  const workers = readWorkers(input.workers);
  const out = resultsPath(input);
  const dataDir = resolveDataDir({ flag: input.dataDir, env: context.env });
  const source = { benchmark: input.benchmark, dataDir, home: context.home };
  const [benchmark, sealed] = [await openBenchmark(source), await openHiddenTests(source)];
  const { samples, notes } =
    input.samples === '-'
      ? await parseSamples(await buffer(process.stdin), 'standard input')
      : await readSamples(resolve(context.cwd, input.samples));
  for (const remark of notes) note(context, remark);
  const others = coversExactly(benchmark, samples) ? [] : await openOthers(source);
  const plan = planEvaluation({ target: benchmark, samples, others });
  const { isolation } = input;
  const first = sealed.hidden(benchmark.taskIds[0] ?? '');
  const limits = input.limits ?? usualLimits(first);

  const interrupt = new AbortController();
  const restore = context.onInterrupt(() => interrupt.abort(new Interrupted()));
  const results = new ResultsFile(out);
  try {
    return await withSandbox(
      { ...context, home: prepareHome(context.home) },
      async (sandbox) => {
        const grader = graderVersion({
          fingerprint: await sandbox.fingerprint(),
          datasetSha256: benchmark.sha256,
          limits,
          isolation,
        });
        const lines = await gradeAll({
          context,
          sandbox,
          benchmark,
          sealed,
          plan,
          results,
          limits,
          isolation,
          grader,
          workers,
          signal: interrupt.signal,
        });
        const summary = summariseEvaluation({ benchmark, lines, ks, limits, grader });
        if (input.json === true) printJson(context, { ...summary, results: out });
        else print(context, evaluationText(context.stdout, summary, out));
        return summary.infra > 0 ? 3 : 0;
      },
      { slots: workers, memoryBytes: sandboxLimits(limits, first).memoryBytes },
    );
  } catch (error) {
    if (!(error instanceof Interrupted) && !interrupt.signal.aborted) throw error;
    note(context, `Interrupted. The same command goes on from ${out}.`);
    return 130;
  } finally {
    results.close();
    restore();
  }
}

class Interrupted extends Error {}

async function gradeAll(job: {
  context: Context;
  sandbox: Sandbox;
  benchmark: Benchmark;
  sealed: HiddenBenchmark;
  plan: EvaluationPlan;
  results: ResultsFile;
  limits: LimitsMode;
  isolation: Isolation | undefined;
  grader: string;
  workers: number;
  signal: AbortSignal;
}): Promise<ResultLine[]> {
  const { context, plan, results, limits, grader } = job;
  const grades = new Map<string, Grade>(results.earlier(grader));
  const aside = results.setStrangersAside();
  if (aside !== undefined)
    note(context, `The results file holds verdicts of another benchmark, grader or limits: they are now in ${aside}.`);
  const samplesOf = Map.groupBy(plan.samples, ({ sha256 }) => sha256);
  const linesOf = (of: ReadonlyMap<string, Grade>) =>
    [...of].flatMap(([sha, grade]) => (samplesOf.get(sha) ?? []).map((s) => lineOf(s, grade, { limits, grader })));
  for (const sha of grades.keys()) if (!samplesOf.has(sha)) grades.delete(sha);
  if (grades.size > 0) note(context, `${linesOf(grades).length} samples were graded by an earlier run.`);
  if (grades.size < samplesOf.size) {
    const kind = job.sealed.hidden(plan.samples[0]?.taskId ?? '').kind;
    await requireSoundGrader({ sandbox: job.sandbox, kind });
    results.begin(linesOf(grades));
    const progress = evaluationProgress(context, { name: job.benchmark.name, planned: plan.samples.length });
    progress.show(linesOf(grades));
    try {
      await runEvaluation({
        ...job,
        known: new Map(grades),
        expected: expectedFolder({ home: context.home }),
        // While some run, others are judged, or wait so that no container does.
        concurrency: 2 * job.workers,
        onGrades(found) {
          for (const [sha, grade] of found) grades.set(sha, grade);
          const lines = linesOf(found);
          results.add(lines);
          progress.show(lines);
        },
      });
    } finally {
      progress.end();
    }
  }
  const lines = plan.samples.map((sample) => {
    const grade = grades.get(sample.sha256);
    if (grade === undefined) throw new Error(`no grade for ${sample.where}`);
    return lineOf(sample, grade, { limits, grader });
  });
  results.replace(lines);
  return lines;
}

/** The benchmarks that the samples could be meant for instead, as far as their data is here. */
async function openOthers(source: DatasetSource): Promise<Benchmark[]> {
  const others: Benchmark[] = [];
  for (const benchmark of BENCHMARKS) {
    if (benchmark === source.benchmark) continue;
    const other = await openBenchmark({ ...source, benchmark, download: false }).catch(() => undefined);
    if (other !== undefined) others.push(other);
  }
  return others;
}

function resultsPath({ context, samples, out }: { context: Context; samples: string; out?: string }): string {
  if (out !== undefined) {
    const path = resolve(context.cwd, out);
    if (samples !== '-' && path === resolve(context.cwd, samples))
      throw usage('--out names the samples themselves', 'Name another file');
    return path;
  }
  if (samples === '-') throw usage('Samples from standard input need --out FILE', 'Say where the results shall go');
  const path = resolve(context.cwd, samples);
  return join(dirname(path), `${basename(path).replace(/(\.jsonl?)?(\.gz)?$/, '')}.results.jsonl`);
}

function readKs(text: string): number[] {
  const ks = text.split(',').map(Number);
  if (ks.every((k) => Number.isInteger(k) && k > 0 && k <= 1_000_000)) return [...new Set(ks)].sort((a, b) => a - b);
  throw usage(`--k is ${JSON.stringify(text)}`, 'Give whole numbers with commas between them, such as 1,10');
}

function readWorkers(text: string | undefined): number {
  const cores = availableParallelism();
  if (text === undefined) return cores;
  const workers = Number(text);
  if (!Number.isInteger(workers) || workers < 1)
    throw usage(`--workers is ${JSON.stringify(text)}`, 'Give a whole number of at least 1');
  return Math.min(workers, cores);
}

function usage(message: string, remedy: string): UserError {
  return new UserError({ message, remedy, exitCode: 2 });
}
