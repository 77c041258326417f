import { framedRows, parseOutputRow, parseStdioRow, type Waited, whoWaited } from './rows.ts';
import { type OutputRow, SandboxError, type StdioRow } from './sandbox.ts';
import { sendJob } from './send-job.ts';
import { type RunnerJob, type Slot, SlotLost } from './slot.ts';

type SomeRow = OutputRow | StdioRow;

/** What one program did; undefined where no row came. */
export interface Collected<Row> {
  rows: (Row | undefined)[];
  /** Some row is a timeout of which this must be asked; `machine` where it was the machine for any. */
  waited: Waited | undefined;
}

/** Rows of one job as they come, program after program; each call is answered once. */
class RowSink<Row extends SomeRow> {
  readonly #calls: number;
  readonly #rows: (Row | undefined)[];
  readonly #near = new Set<number>();
  readonly #waited = new Map<number, Waited>();

  constructor({ programs, calls }: { programs: number; calls: number }) {
    this.#calls = calls;
    this.#rows = Array.from({ length: programs * calls }, () => undefined);
  }

  put(row: Row | undefined, first: number, count = 1): void {
    if (first + count > this.#rows.length) throw new SandboxError('the runner answered a call that was not asked');
    for (let index = first; index < first + count; index++) {
      if (this.#rows[index] !== undefined) throw new SandboxError('the runner answered a call twice');
      this.#rows[index] = row;
    }
  }

  near(first: number, count: number): void {
    for (let index = first; index < Math.min(first + count, this.#rows.length); index++) this.#near.add(index);
  }

  wait(who: Waited | undefined, row: number): void {
    const program = Math.floor(row / this.#calls);
    if (who !== undefined && this.#waited.get(program) !== 'machine') this.#waited.set(program, who);
  }

  collected(): Collected<Row>[] {
    const programs = this.#rows.length / this.#calls;
    return Array.from({ length: programs }, (_, program) => ({
      waited: this.#waited.get(program),
      rows: this.#rows
        .slice(program * this.#calls, (program + 1) * this.#calls)
        .map((row, call) => (this.#near.has(program * this.#calls + call) ? markedNear(row) : row)),
    }));
  }
}

function markedNear<Row extends SomeRow>(row: Row | undefined): Row | undefined {
  return row?.kind === 'value' || row?.kind === 'exception' ? { ...row, nearLimit: true } : row;
}

interface CallsSize {
  programs: number;
  calls: number;
}

/** What each program of a calls job did. Throws `SlotLost`. */
export async function collectCalls(
  slot: Slot,
  job: RunnerJob,
  size: CallsSize,
): Promise<{ found: Collected<OutputRow>[]; recycled: boolean }> {
  const sink = new RowSink<OutputRow>(size);
  const { recycled } = await receiveCalls(slot, job, sink);
  return { found: sink.collected(), recycled };
}

/** The same, with what there is when the container is lost on the way. */
export async function collectWhileItLasts(
  slot: Slot,
  job: RunnerJob,
  size: CallsSize,
): Promise<Collected<OutputRow>[]> {
  const sink = new RowSink<OutputRow>(size);
  try {
    await receiveCalls(slot, job, sink);
  } catch (error) {
    if (!(error instanceof SlotLost)) throw error;
  }
  return sink.collected();
}

function receiveCalls(slot: Slot, job: RunnerJob, sink: RowSink<OutputRow>): Promise<{ recycled: boolean }> {
  return sendJob(slot, job, ({ tag, body }) => {
    if (tag === 'B') {
      let index = body.readUInt32BE(0);
      for (const row of framedRows(body.subarray(4))) sink.put(row, index++);
    } else if (tag === 'R' || tag === 'N') {
      const first = body.readUInt32BE(0);
      sink.put(parseOutputRow(body.subarray(8), tag), first, body.readUInt32BE(4));
      if (tag === 'N') sink.wait(whoWaited(body.subarray(8)), first);
    } else if (tag === 'L') {
      sink.near(body.readUInt32BE(0), body.readUInt32BE(4));
    }
  });
}

/** What one program did that reads its input. Throws `SlotLost`. */
export async function collectStdio(
  slot: Slot,
  job: RunnerJob,
  inputs: number,
): Promise<Collected<StdioRow> & { recycled: boolean }> {
  const sink = new RowSink<StdioRow>({ programs: 1, calls: inputs });
  const { recycled } = await sendJob(slot, job, ({ tag, body }) => {
    if (tag === 'S') {
      sink.put({ kind: 'value', stdout: body.toString('utf8', 4) }, body.readUInt32BE(0));
    } else if (tag === 'R' || tag === 'N') {
      const first = body.readUInt32BE(0);
      sink.put(parseStdioRow(body.subarray(8), tag), first, body.readUInt32BE(4));
      if (tag === 'N') sink.wait(whoWaited(body.subarray(8)), first);
    } else if (tag === 'L') {
      sink.near(body.readUInt32BE(0), body.readUInt32BE(4));
    }
  });
  const [only] = sink.collected();
  return { rows: only?.rows ?? [], waited: only?.waited, recycled };
}

/** The rows of a job that ran to its end. Where one is missing the container could not be cleaned, or the runner is at fault. */
export function wholeRows<Row extends SomeRow>(
  rows: readonly (Row | undefined)[],
  recycled: boolean,
): (Row | { kind: 'crash'; detail: string })[] {
  return rows.map((row) => {
    if (row !== undefined) return row;
    if (recycled) return { kind: 'crash', detail: 'left its container in a state that could not be cleaned' };
    throw new SandboxError('the runner left a row out');
  });
}
