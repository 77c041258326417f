import { z } from 'zod';
import type { OutputRow, StdioRow } from './sandbox.ts';

/**
 * Rows as they come out of a container, where the candidate may have written them: shape and size are checked, nothing is believed. A
 * forged row can say no more than the program could have returned, raised or died of.
 */
const MESSAGE_CHARS = 1000;
const DETAIL_CHARS = 2000;
const text = z.string().transform((value) => value.slice(0, MESSAGE_CHARS));

const exception = z.object({
  kind: z.literal('exception'),
  type: text,
  base: text,
  standard: text.optional(),
  details: z.string().max(DETAIL_CHARS).optional().catch(undefined),
  message: text,
  printed: text.optional(),
  line: z.int().nonnegative().catch(0),
  phase: z.enum(['compile', 'import', 'entry', 'call', 'encode']),
});

const saidByRunner = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('timeout') }),
  z.object({ kind: z.literal('memory_limit') }),
  z.object({ kind: z.literal('output_limit') }),
  z.object({ kind: z.literal('crash'), detail: text }),
  z.object({ kind: z.literal('not_run') }),
]);

/** Whose doing it is that the wall clock ended a program which had half of its CPU time left. */
export type Waited = 'program' | 'machine';
const waited = z.object({ waited: z.enum(['program', 'machine']) });

/** Only the runner can say it (frame `N`). */
export function whoWaited(body: Buffer): Waited | undefined {
  try {
    return waited.safeParse(JSON.parse(body.toString('utf8'))).data?.waited;
  } catch {
    return undefined;
  }
}

const UNREADABLE = { kind: 'crash', detail: 'wrote into its result pipe' } as const;

/** The runner's tag of a frame of rows: who says it. */
export type RowTag = 'R' | 'N';

/** That a program was stopped, or how it died, is the runner's to say; a program says how a call ended. */
export function parseOutputRow(body: Buffer, tag: RowTag): OutputRow {
  try {
    const said: unknown = JSON.parse(body.toString('utf8'));
    return tag === 'R' ? exception.parse(said) : saidByRunner.parse(said);
  } catch {
    return UNREADABLE;
  }
}

const FRAME_BYTES = 5;

/**
 * Rows as the program itself framed them, tag, length and body: `V` an encoded value, which is ASCII, `P` one with what was printed, as JSON, `R` an exception. The runner has
 * looked at tags and lengths only.
 * @throws RangeError when a frame is cut off, which the runner never sends
 */
export function* framedRows(frames: Buffer): Generator<OutputRow> {
  for (let at = 0; at < frames.length; ) {
    const from = at + FRAME_BYTES;
    const end = from + frames.readUInt32BE(at + 1);
    if (end > frames.length) throw new RangeError('a row was cut off');
    const body = frames.subarray(from, end);
    if (frames[at] === VALUE_TAG) yield { kind: 'value', value: body.toString('latin1') };
    else if (frames[at] === PRINTED_TAG) yield parsePrinted(body);
    else yield parseOutputRow(body, 'R');
    at = end;
  }
}

const VALUE_TAG = 'V'.charCodeAt(0);
const PRINTED_TAG = 'P'.charCodeAt(0);
const printedValue = z.object({ value: z.string(), printed: text });

function parsePrinted(body: Buffer): OutputRow {
  try {
    return { kind: 'value', ...printedValue.parse(JSON.parse(body.toString('utf8'))) };
  } catch {
    return UNREADABLE;
  }
}

/** A row of a standard-input program that did not end well; its output travels apart, as bytes. */
export function parseStdioRow(body: Buffer, tag: RowTag): StdioRow {
  const row = parseOutputRow(body, tag);
  if (row.kind === 'value') return UNREADABLE;
  if (row.kind !== 'exception') return row;
  return { kind: 'exception', type: row.type, message: row.message, line: row.line };
}
