import { isScalar, LineCounter, parseDocument, type ScalarTag, visit } from 'yaml';
import type { SpecProblem } from './spec-problem.ts';

/** YAML 1.2, and whole numbers may be grouped as in `2_000_000`, which only YAML 1.1 allowed. */
const groupedInteger: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^[-+]?[0-9][0-9]*(?:_[0-9]+)+$/,
  resolve: (text) => Number(text.replaceAll('_', '')),
};

export type ParsedYaml =
  | {
      kind: 'value';
      value: unknown /** 1-based line of a path, or of its nearest existing parent. */;
      lineOf: (path: PropertyKey[]) => number | undefined;
    }
  | { kind: 'problems'; problems: SpecProblem[] };

/** Reads one YAML (or JSON) document; all syntax errors at once, each with its line. A byte order mark is skipped. */
export function parseYaml(text: string): ParsedYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    customTags: (tags) => [groupedInteger, ...tags],
    prettyErrors: false,
    logLevel: 'error',
  });
  const problems = document.errors.map((error) => ({
    path: '',
    line: lines.linePos(error.pos[0]).line,
    message: `is not valid YAML: ${error.message.split('\n')[0] ?? 'syntax error'}`,
  }));
  if (problems.length > 0) return { kind: 'problems', problems };

  visit(document, {
    Pair(_, pair) {
      if (isScalar(pair.key) && typeof pair.key.value !== 'string') pair.key.value = String(pair.key.value);
    },
  });
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    return {
      kind: 'problems',
      problems: [{ path: '', message: `is not valid YAML: ${error instanceof Error ? error.message : 'unreadable'}` }],
    };
  }

  const lineOf = (path: PropertyKey[]): number | undefined => {
    for (let length = path.length; length > 0; length--) {
      const node = document.getIn(path.slice(0, length), true);
      const offset = rangeStart(node);
      if (offset !== undefined) return lines.linePos(offset).line;
    }
    return undefined;
  };
  return { kind: 'value', value, lineOf };
}

function rangeStart(node: unknown): number | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range)) return undefined;
  const start: unknown = node.range[0];
  return typeof start === 'number' ? start : undefined;
}
