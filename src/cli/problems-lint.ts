import { gradeHidden } from '../grading/grade-hidden.ts';
import { resolveDataDir } from '../problems/data-dir.ts';
import { type Finding, type LintReport, lintBenchmark } from '../problems/lint.ts';
import { counted } from '../reports/terminal.ts';
import { terminalLine } from '../reports/terminal-safe.ts';
import { connectDocker, dockerStatus } from '../sandbox/docker-engine.ts';
import { type Context, note, print, printJson } from './context.ts';
import type { ExitCode } from './user-error.ts';
import { withSandbox } from './with-sandbox.ts';

/** `problems lint`: everything wrong with a benchmark at once. Exit 1 when there is an error, 0 with warnings alone. */
export async function lintProblemsCommand(input: {
  context: Context;
  benchmark: string;
  run: boolean;
  dataDir?: string;
  json?: boolean;
}): Promise<ExitCode> {
  const { context, benchmark } = input;
  const dataDir = resolveDataDir({ flag: input.dataDir, env: context.env });
  const report = await lintBenchmark({ benchmark, dataDir, home: context.home });
  const references = await gradeReferences({ context, report, run: input.run });
  const findings = [...report.findings, ...references.findings];
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  if (input.json === true) {
    printJson(context, {
      path: report.path,
      sha256: report.sha256 ?? null,
      tasks: report.tasks.length,
      referencesRun: references.run,
      errors,
      findings,
    });
  } else {
    for (const { severity, taskId, message } of findings)
      print(context, terminalLine(`${severity}: ${taskId === undefined ? '' : `${taskId}: `}${message}`));
    const ran =
      references.run === 0
        ? 'no reference solution was run'
        : `${counted(references.run, 'reference solution')} ${references.run === 1 ? 'was' : 'were'} run`;
    print(
      context,
      `${terminalLine(report.path)}: ${counted(report.tasks.length, 'task')}, ${counted(errors, 'error')}, ${counted(findings.length - errors, 'warning')}; ${ran}.`,
    );
  }
  return errors > 0 ? 1 : 0;
}

/** Whether reference solutions pass their own hidden tests. Without an engine or an image it is said that they were not run. */
async function gradeReferences({
  context,
  report,
  run,
}: {
  context: Context;
  report: LintReport;
  run: boolean;
}): Promise<{ run: number; findings: Finding[] }> {
  const tasks = report.tasks.filter(({ hidden }) => hidden.canonical !== '');
  if (!run || tasks.length === 0) return { run: 0, findings: [] };
  const engine = await dockerStatus({ docker: connectDocker({ env: context.env }) });
  if (!engine.ok) {
    note(context, `Reference solutions were not run: ${engine.problem}.`);
    return { run: 0, findings: [] };
  }
  return withSandbox(context, async (sandbox) => {
    const findings: Finding[] = [];
    for (const { problem, hidden } of tasks) {
      const [graded] = await gradeHidden({ sandbox, problem, hidden, programs: [hidden.canonical] });
      if (graded === undefined || graded.verdict === 'pass') continue;
      const why = graded.firstFailure?.exception ?? graded.firstFailure?.test ?? '';
      findings.push({
        severity: 'error',
        taskId: problem.taskId,
        message: `The reference solution does not pass its hidden tests (${graded.verdict}). ${why}`.trim(),
      });
    }
    return { run: tasks.length, findings };
  });
}
