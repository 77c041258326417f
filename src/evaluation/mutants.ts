import type { Problem } from '../problems/problem.ts';

export const MUTANTS = ['returns None', 'returns its result twice', 'raises', 'exits with status 0'] as const;
export type Mutant = (typeof MUTANTS)[number];

/** Programs made from a right one that are wrong whatever the task: a grader that passes one cannot be trusted. */
export function mutantOf(problem: Problem, canonical: string, mutant: Mutant): string {
  if (problem.kind === 'stdio') return STDIO[mutant];
  return `${canonical}
__qf_right = ${problem.entryPoint}
def ${problem.entryPoint}(*args, **named):
    ${FUNCTION[mutant]}
`;
}

const FUNCTION: Record<Mutant, string> = {
  'returns None': '__qf_right(*args, **named)',
  'returns its result twice': 'return [__qf_right(*args, **named)] * 2',
  raises: 'raise ValueError("mutant")',
  'exits with status 0': 'import os; os._exit(0)',
};

const STDIO: Record<Mutant, string> = {
  'returns None': '',
  'returns its result twice': 'print("mutant\\n" * 2)',
  raises: 'raise ValueError("mutant")',
  'exits with status 0': 'import os; os._exit(0)',
};
