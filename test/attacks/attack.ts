/** What a hostile program is graded against. None of them returns, prints or computes what its task wants, so `pass` is a forgery. */
export type AttackTask =
  /** `f(x) == x * x + 7`, graded twice: by EvalPlus's inputs (equal encodings decide) and by asserts (replayed in a judge). */
  | 'square'
  /** `f(n)` wants a text that is drawn anew for each run and is nowhere but on the grader's side. */
  | 'secret'
  /** Reads x from standard input and prints `x * x + 7`. */
  | 'stdio'
  /** A test that needs the program's own process: a pass may be forged there, and must say so (`forgeable`). */
  | 'in-process';

export interface Attack {
  name: string;
  task: AttackTask;
  source: string;
}

/** Every program begins with these imports: the attacks are about what follows. */
export const IMPORTS =
  'import os, sys, posix, signal, time, ctypes, gc, json, builtins, struct, threading, resource, io, re, types, inspect\n';

/** Attacks on `square` from bodies of `f(x)`, or whole sources where they define `f` themselves. */
export function onSquare(named: Record<string, string>): Attack[] {
  return attacksOn('square', named);
}

export function attacksOn(task: AttackTask, named: Record<string, string>): Attack[] {
  return Object.entries(named).map(([name, text]) => ({
    name,
    task,
    source:
      IMPORTS + (task === 'stdio' || /^def f\(|^f = |^async def f\(/m.test(text) ? text : `def f(x):\n${indent(text)}`),
  }));
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
