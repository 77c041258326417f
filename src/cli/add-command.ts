import type { Command } from 'commander';
import type { Context } from './context.ts';

/** Where a command leaves its exit code. */
export interface Result {
  exitCode: number;
}

/** Adds one command to its parent. */
export type AddCommand = (parent: Command, context: Context, result: Result) => void;
