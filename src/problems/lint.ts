import { type DatasetSource, locateDataset, readRecords } from './dataset.ts';
import { readDatasetText } from './dataset-text.ts';
import type { HiddenTests } from './hidden-tests.ts';
import type { Problem } from './problem.ts';
import { ProblemFileError } from './problem-file-error.ts';
import { binds, definedFunctions, findFunction, parseAssert } from './python-source.ts';
import { shownHidden } from './shown-hidden.ts';

/** `error`: the benchmark cannot be opened, or a test can never be met. `warning`: it runs, but probably not as meant. */
export interface Finding {
  severity: 'error' | 'warning';
  /** Undefined for what concerns a line or the whole file. */
  taskId?: string | undefined;
  message: string;
}

export interface LintReport {
  path: string;
  /** Undefined when the file cannot be read at all. */
  sha256: string | undefined;
  /** Readable tasks in file order, with what grading needs to try their reference solutions. */
  tasks: { problem: Problem; hidden: HiddenTests }[];
  findings: Finding[];
}

/**
 * Everything that is wrong with a benchmark, at once. Reads programs but runs none: whether a reference solution passes its own
 * tests is for grading to say, over `tasks` whose `hidden.canonical` is not empty.
 * @throws ProblemFileError only when there is no such benchmark
 */
export async function lintBenchmark(source: DatasetSource): Promise<LintReport> {
  const path = await locateDataset(source);
  const report: LintReport = { path, sha256: undefined, tasks: [], findings: [] };
  const unusable = (error: unknown) => {
    if (!(error instanceof ProblemFileError)) throw error;
    report.findings.push({ severity: 'error', message: `${error.message} ${error.remedy}` });
  };
  try {
    const { text, sha256 } = await readDatasetText(path);
    report.sha256 = sha256;
    for (const outcome of readRecords({ name: source.benchmark, path, text })) {
      if (outcome instanceof ProblemFileError) {
        unusable(outcome);
        continue;
      }
      const task = { problem: outcome.problem(), hidden: outcome.hidden() };
      report.tasks.push(task);
      const findings = [...lintTask(task.problem, task.hidden), ...lintSecrecy(source.benchmark, task)];
      report.findings.push(...findings.map((finding) => ({ ...finding, taskId: outcome.taskId })));
    }
  } catch (error) {
    unusable(error);
  }
  return report;
}

/** MBPP grades by the tests that it shows (the paper's setting); anywhere else it is a slip. */
function lintSecrecy(benchmark: string, { problem, hidden }: LintReport['tasks'][number]): Finding[] {
  const shown = shownHidden(problem, hidden);
  if (shown.length === 0 || benchmark === 'mbpp' || benchmark === 'mbpp-sanitized') return [];
  const which = shown.length === 1 ? `Hidden test ${shown[0]} is` : `Hidden tests ${shown.join(', ')} are`;
  return [{ severity: 'warning', message: `${which} visible too, and so can be met without solving the task.` }];
}

function lintTask(problem: Problem, hidden: HiddenTests): Finding[] {
  const findings: Finding[] = [];
  const say = (severity: Finding['severity'], message: string) => findings.push({ severity, message });
  if (problem.statement.trim() === '') say('error', 'The prompt is empty.');
  if (problem.visibleTests.length === 0)
    say('warning', 'There is no visible test, so no checker can accept a program.');
  problem.visibleTests.forEach((test, index) => {
    if (test.kind === 'assert') checkAssert(test.source, `Visible test ${index + 1}`);
  });
  if (hidden.kind === 'asserts')
    hidden.asserts.forEach((source, index) => checkAssert(source, `Hidden test ${index + 1}`));
  if (hidden.kind === 'check' && !definedFunctions(hidden.source).has('check'))
    say('error', 'The hidden test does not define check(candidate).');
  if (
    hidden.canonical !== '' &&
    problem.kind === 'function' &&
    !definedFunctions(hidden.canonical).has(problem.entryPoint)
  ) {
    say('error', `The reference solution does not define ${problem.entryPoint}.`);
  }
  return findings;

  function checkAssert(source: string, name: string): void {
    const parsed = parseAssert(source);
    if (parsed === undefined) return void say('error', `${name} is not one Python assert statement.`);
    const calls = parsed.calls.filter((call) => call.name === problem.entryPoint);
    if (calls.length === 0) return void say('error', `${name} does not call ${problem.entryPoint}.`);
    const parameters = findFunction(
      problem.form === 'completion' ? problem.statement : hidden.canonical,
      problem.entryPoint,
    )?.parameters;
    if (parameters !== undefined && !calls.every((call) => binds(call, parameters))) {
      say('error', `${name} calls ${problem.entryPoint} with arguments that its signature does not take.`);
    }
  }
}
