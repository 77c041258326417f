import { PYTHON_BUILTINS } from '../python-syntax/builtins.ts';
import { type Parameter, parametersOf } from '../python-syntax/call-forms.ts';
import { freeNamesIn, parsePython } from '../python-syntax/parse-python.ts';

/**
 * Why a program cannot be right, from its text alone; null where nothing speaks against it. Our own rule, in the spirit of pairing execution
 * with static signals: it does not parse, does not define the function or only holds its place, cannot take as many arguments as the statement
 * says, or reads a name that nothing binds. A program that binds names out of sight (`import *`, `exec`, `globals`) is not held to the last.
 */
export function staticFault(input: { source: string; entryPoint: string; statement: string }): string | null {
  const { entryPoint, statement } = input;
  // White space after the last line is fine for Python and an error for the grammar.
  const source = input.source.trimEnd();
  const python = parsePython(source);
  if (!python.parsed) return null;
  if (python.hasErrors) return 'does not parse';
  if (!python.defines.has(entryPoint)) return `does not define ${entryPoint}`;
  if (python.implements.get(entryPoint) === 'stub') return `leaves ${entryPoint} empty`;
  const wanted = parametersOf({ source: statement, name: entryPoint });
  const given = parametersOf({ source, name: entryPoint });
  if (wanted !== undefined && given !== undefined && !takes(given, wanted.length))
    return 'takes another number of arguments';
  if (/\bimport\s*\*|\b(?:exec|globals|eval|locals)\b/.test(source)) return null;
  const unbound = [...freeNamesIn(source)].find((name) => !PYTHON_BUILTINS.has(name));
  return unbound === undefined ? null : `uses ${unbound}, which nothing defines`;
}

function takes(parameters: readonly Parameter[], count: number): boolean {
  const required = parameters.filter(({ value }) => value === undefined).length;
  return required <= count && count <= parameters.length;
}

/** Which programs stay: those without a fault, or all when none would. */
export function withoutFaults(faults: readonly (string | null)[]): boolean[] {
  return faults.includes(null) ? faults.map((fault) => fault === null) : faults.map(() => true);
}
