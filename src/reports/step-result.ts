import { counted } from './terminal.ts';

/** What a person wants to know of a step's stored result (JSON text of the activity's return value, perhaps cut). */
export interface StepResult {
  /** One line: what came out. */
  summary: string;
  /** Extracted program, clarification, tests or prediction: what the next step worked with. */
  text?: string | undefined;
  /** The extraction rule that fired. */
  rule?: string | undefined;
}

/** Reads the result of any activity; what it does not know it shows as it is. */
export function readStepResult(json: string): StepResult {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return { summary: 'result (cut)', text: json };
  }
  if (Array.isArray(value)) return readArray(value);
  if (!isRecord(value)) return { summary: String(value) };
  switch (value.kind) {
    case 'program':
      return { summary: 'program', text: text(value.code), rule: text(value.rule) };
    case 'prediction':
      return { summary: `predicted ${text(value.prediction) ?? ''}`, text: text(value.comparison) };
    case 'judgement':
      return { summary: value.accept === true ? 'accepted' : 'rejected' };
    case 'tests': {
      const tests = Array.isArray(value.tests) ? value.tests : [];
      return { summary: counted(tests.length, 'test'), text: tests.map(testText).join('\n') };
    }
    case 'clarification':
      return { summary: 'clarified statement', text: text(value.statement) };
    case 'pool':
      return readPool(value);
    case 'ranking':
      return readRanking(value);
    case 'unusable':
      return { summary: `unusable: ${text(value.reason) ?? ''}`, text: text(value.detail) };
    case 'paced':
      return { summary: `endpoint asked to wait until ${text(value.until) ?? ''}` };
    default:
      return typeof value.outcome === 'string'
        ? { summary: value.outcome, text: text(value.detail) }
        : { summary: 'result', text: JSON.stringify(value, null, 1) };
  }
}

/** Rows of `runPrograms` by program and test, or flags of `comparePredictions`. */
function readArray(value: unknown[]): StepResult {
  if (value.every((item) => typeof item === 'boolean')) {
    return { summary: `${value.filter(Boolean).length} of ${value.length} predictions hold` };
  }
  const rows = value.map((row) => (Array.isArray(row) ? row : [row]));
  const lines = rows.flatMap((row, program) =>
    row.filter(isRecord).map((result) => {
      const seen = [result.exception, result.actual === undefined ? undefined : `got ${text(result.actual) ?? ''}`]
        .map(text)
        .filter((part) => part !== undefined);
      const prefix = rows.length > 1 ? `program ${program}: ` : '';
      return `${prefix}${text(result.status) ?? '?'}  ${text(result.test) ?? ''}${seen.length > 0 ? `  # ${seen.join('; ')}` : ''}`;
    }),
  );
  const passed = rows.map(
    (row) => `${row.filter((result) => isRecord(result) && result.status === 'pass').length} of ${row.length}`,
  );
  return { summary: `tests passed: ${passed.join(', ') || 'none run'}`, text: lines.join('\n') };
}

function testText(test: unknown): string {
  if (!isRecord(test)) return String(test);
  return text(test.source) ?? `stdin ${JSON.stringify(test.stdin)} → stdout ${JSON.stringify(test.stdout)}`;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A pass matrix, distinct rows once: who passes what. */
function readPool({ matrix, tests, leftOut, steps }: Record<string, unknown>): StepResult {
  const rows = Array.isArray(matrix) ? matrix.filter((row) => Array.isArray(row)) : [];
  const names = Array.isArray(tests) ? tests.map(String) : [];
  const named = Array.isArray(steps) ? steps.map(String) : [];
  const patterns = new Map<string, string[]>();
  rows.forEach((row, program) => {
    const pattern = row.join('');
    patterns.set(pattern, [...(patterns.get(pattern) ?? []), named[program] ?? `program ${program}`]);
  });
  const lines = [...patterns].map(([pattern, programs]) => `${pattern}  ${programs.join(', ')}`);
  const without = typeof leftOut === 'number' && leftOut > 0 ? `, ${leftOut} left out` : '';
  return {
    summary: `${counted(rows.length, 'program')} on ${counted(names.length, 'test')}${without}`,
    text: [...lines, ...names.map((name, test) => `test ${test}: ${name}`)].join('\n'),
  };
}

function readRanking({ method, prefilter, order, steps, scores, tests }: Record<string, unknown>): StepResult {
  const programs = Array.isArray(order) ? order : [];
  const given = Array.isArray(scores) ? scores : [];
  const names = Array.isArray(steps) ? steps.map(String) : [];
  const nameAt = (rank: number) => names[rank] ?? `program ${number(programs[rank])}`;
  const number = (value: unknown) => (typeof value === 'number' ? String(Number(value.toPrecision(6))) : 'none');
  const weighed = (Array.isArray(tests) ? tests : []).filter(isRecord).map((line) => {
    const flags = [line.decided === true ? 'decided' : '', line.misleading === true ? 'misleading' : ''];
    const said = flags.filter((flag) => flag !== '').map((flag) => `, ${flag}`);
    return `test ${number(line.test)}: weight ${number(line.weight)}, LOO-AUC ${number(line.looAuc)}${said.join('')}  ${text(line.source) ?? ''}`;
  });
  return {
    summary: `ranked by ${text(method) ?? '?'}${prefilter === 'static' ? ' after the static prefilter' : ''}: ${nameAt(0)} first`,
    text: [...programs.map((_, rank) => `${rank + 1}. ${nameAt(rank)}, score ${number(given[rank])}`), ...weighed].join(
      '\n',
    ),
  };
}
