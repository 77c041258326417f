import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The bundled benchmark, one JSON object a line. */
const MINI_PATH = resolve(import.meta.dirname, 'mini.jsonl');

/** A line of the bundled benchmark as it stands in the file; whoever solves problems gets them from the readers instead. */
export interface MiniTask {
  task_id: string;
  kind: 'function' | 'stdio';
  entry_point: string;
  form: 'completion' | 'description';
  prompt: string;
  /** Absent where the docstring of `prompt` holds the examples. */
  visible_tests?: (string | { stdin: string; stdout: string })[];
  hidden_tests: (string | { stdin: string; stdout: string })[];
  setup?: string;
  canonical_solution: string;
}

/** The file is the project's own and a test checks it, so it is read as it is. */
export function readMini(): MiniTask[] {
  const lines = readFileSync(MINI_PATH, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line): MiniTask => JSON.parse(line));
}
