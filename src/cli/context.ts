import { type Paint, painter, type RenderOptions, wantsColor } from '../reports/terminal.ts';
import { terminalJson, terminalSafe } from '../reports/terminal-safe.ts';
import { projectHome } from '../temporal/embedded/home.ts';

/** A stream that may be a terminal. */
export interface Output {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
  rows?: number;
  hasColors?: (count: number) => boolean;
}

/** What a command may touch of the outside; `main` makes it from the process, tests make their own. */
export interface Context {
  stdout: Output & NodeJS.WritableStream;
  stderr: Output & NodeJS.WritableStream;
  /** False: nobody answers questions or presses Ctrl-C. */
  interactive: boolean;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** `--verbose` was given: stack traces, and the logs of parts that are quiet otherwise. */
  verbose?: boolean;
  /** Absolute path of the state folder. */
  home: string;
  /** Calls `handler` on Ctrl-C instead of dying; returns how to stop that. */
  onInterrupt(handler: () => void): () => void;
}

export function processContext(): Context {
  const cwd = process.cwd();
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    interactive: process.stdin.isTTY && process.stderr.isTTY && process.env.CI !== 'true',
    env: process.env,
    cwd,
    home: projectHome(process.env, cwd),
    onInterrupt(handler) {
      process.on('SIGINT', handler);
      return () => process.off('SIGINT', handler);
    },
  };
}

/** Colours for what a command writes itself: only on a terminal that has them. */
export function paint(output: Output, style: Parameters<Paint>[0], text: string): string {
  return painter(wantsColor(output))(style, text);
}

/** How to render a report for standard output. */
export function renderOptions({ stdout }: Context): RenderOptions {
  return { color: wantsColor(stdout), width: stdout.columns || 100 };
}

/** Text for people, ending in one newline. It may be coloured, so what it holds from outside must be harmless already. */
export function print(context: Context, text: string): void {
  context.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

export function printJson(context: Context, value: unknown): void {
  context.stdout.write(`${terminalJson(JSON.stringify(value))}\n`);
}

/** Progress and remarks, without colour: stderr, so that stdout stays clean for scripts. Names, addresses and others' messages in it are made harmless. */
export function note(context: Context, text: string): void {
  context.stderr.write(`${terminalSafe(text)}\n`);
}
