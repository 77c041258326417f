import { availableParallelism } from 'node:os';
import { keepCertificate } from '../evaluation/certificates.ts';
import { type Certification, certify } from '../evaluation/certify.ts';
import { graderVersion } from '../evaluation/grader-version.ts';
import { expectedFolder } from '../grading/expected-folder.ts';
import { usualLimits } from '../grading/limits.ts';
import { openBenchmark } from '../problems/benchmark.ts';
import { resolveDataDir } from '../problems/data-dir.ts';
import { openHiddenTests } from '../problems/hidden.ts';
import { BENCHMARKS } from '../problems/problem.ts';
import { ProblemFileError } from '../problems/problem-file-error.ts';
import { counted } from '../reports/terminal.ts';
import { terminalLine } from '../reports/terminal-safe.ts';
import { prepareHome } from '../temporal/embedded/home.ts';
import { type Context, note, paint, print, printJson } from './context.ts';
import type { ExitCode } from './user-error.ts';
import { withSandbox } from './with-sandbox.ts';

const LISTED = 10;
const NOTE_MS = 10_000;

/** `doctor --certify`: canonical solutions pass and mutants do not, benchmark by benchmark. Exit 3 when one cannot be trusted here. */
export async function certifyCommand(input: {
  context: Context;
  /** Empty: all whose data is here. */
  benchmarks: readonly string[];
  json: boolean;
}): Promise<ExitCode> {
  const { benchmarks, json } = input;
  const context = { ...input.context, home: prepareHome(input.context.home) };
  const dataDir = resolveDataDir({ env: context.env });
  const interrupt = new AbortController();
  const restore = context.onInterrupt(() => interrupt.abort(new Error('interrupted')));
  const found: ({ benchmark: string; version: string } & Certification)[] = [];
  try {
    await withSandbox(context, async (sandbox) => {
      for (const name of benchmarks.length === 0 ? BENCHMARKS : benchmarks) {
        const source = {
          benchmark: name,
          dataDir,
          home: context.home,
          ...(benchmarks.length === 0 ? { download: false as const } : {}),
        };
        const benchmark = await openBenchmark(source).catch((error: unknown) => {
          if (benchmarks.length > 0 || !(error instanceof ProblemFileError)) throw error;
          note(context, `${name} is left out: ${error.message}`);
          return undefined;
        });
        if (benchmark === undefined) continue;
        const sealed = await openHiddenTests(source);
        const limits = usualLimits(sealed.hidden(benchmark.taskIds[0] ?? ''));
        let graded = 0;
        let toldAt = performance.now();
        const result = await certify({
          sandbox,
          benchmark,
          sealed,
          limits,
          signal: interrupt.signal,
          expected: expectedFolder({ home: context.home }),
          concurrency: availableParallelism() + 1,
          onGrades(count) {
            graded += count;
            if (performance.now() - toldAt < NOTE_MS) return;
            toldAt = performance.now();
            note(context, `${name}: ${counted(graded, 'program')} graded`);
          },
        });
        const fingerprint = await sandbox.fingerprint();
        const version = graderVersion({ fingerprint, datasetSha256: benchmark.sha256, limits });
        found.push({ benchmark: name, version, ...result });
        if (!json) print(context, certificationText(context, name, result));
        if (result.failures.length > 0) continue;
        const { canonical, mutants, exceptions } = result;
        const { imageId, python, numpy } = fingerprint;
        const stamp = { benchmark: name, datasetSha256: benchmark.sha256, imageId, python, numpy };
        const certifiedAt = new Date().toISOString();
        keepCertificate({ home: context.home, version, ...stamp, canonical, mutants, exceptions, certifiedAt });
      }
    });
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    note(context, 'Interrupted: nothing of this benchmark was recorded.');
    return 130;
  } finally {
    restore();
  }
  const ok = found.every(({ failures }) => failures.length === 0);
  if (json) printJson(context, { ok, benchmarks: found });
  return ok ? 0 : 3;
}

function certificationText(context: Context, name: string, result: Certification): string {
  const { canonical, mutants, exceptions, failures } = result;
  const graded = `${counted(canonical, 'canonical solution')} and ${counted(mutants, 'mutant')}`;
  const listed = exceptions === 0 ? '' : `, ${counted(exceptions, 'known exception')}`;
  if (failures.length === 0) return `${paint(context.stdout, 'green', 'ok  ')}  ${name}: ${graded}${listed}`;
  const rest = failures.length - LISTED;
  return [
    `${paint(context.stdout, 'red', 'FAIL')}  ${name}: ${failures.length} of ${graded} came out wrong`,
    ...failures.slice(0, LISTED).map((line) => `      ${terminalLine(line)}`),
    ...(rest > 0 ? [`      and ${rest} more`] : []),
  ].join('\n');
}
