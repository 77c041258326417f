import { SandboxError } from './sandbox.ts';
import { type Slot, SlotLost } from './slot.ts';

export interface Task<T> {
  /** The slot must allow a program this much. */
  memoryBytes: number;
  execute: (slot: Slot) => Promise<T>;
  /** No other task runs beside it. */
  alone?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Up to `size` warm slots; tasks are taken in the order in which they came, one that is to be alone when those before it are done. A task whose slot is lost is executed once more in a fresh
 * one; a second loss is thrown (`SlotLost`). An aborted task rejects at once with the signal's reason, and its slot's container is killed.
 */
export interface Pool {
  run<T>(task: Task<T>): Promise<T>;
  /** Begins to open slots for the tasks that will come; those that cannot be opened say so to the task that needs one. */
  warm(wanted: { slots: number; memoryBytes: number }): void;
  close(): Promise<void>;
}

export function createPool({ size, open }: { size: number; open: (memoryBytes: number) => Promise<Slot> }): Pool {
  const idle: Slot[] = [];
  const busy = new Set<Slot>();
  const warming: Promise<Slot>[] = [];
  const waiting: { alone: boolean; admit: () => void; refuse: (reason: unknown) => void }[] = [];
  let admitted = 0;
  let loner = false;
  let closed = false;
  /** Containers that come or go; the pool is not closed before they are settled. */
  const unsettled = new Set<Promise<unknown>>();

  const track = (work: Promise<unknown>): void => {
    const settled: Promise<unknown> = work.catch(() => undefined).finally(() => unsettled.delete(settled));
    unsettled.add(settled);
  };
  const retire = (slot: Slot): void => track(slot.close());

  const admitNext = (): void => {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      if (loner || admitted >= (next.alone ? 1 : size)) return;
      waiting.shift();
      admitted++;
      loner = next.alone;
      next.admit();
    }
  };
  const admission = (signal: AbortSignal | undefined, alone: boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = () => {
        const place = waiting.indexOf(waiter);
        if (place >= 0) waiting.splice(place, 1);
        reject(signal?.reason);
        admitNext();
      };
      const waiter = {
        alone,
        admit: () => {
          signal?.removeEventListener('abort', leave);
          resolve();
        },
        refuse: reject,
      };
      waiting.push(waiter);
      signal?.addEventListener('abort', leave, { once: true });
      admitNext();
    });
  const release = (): void => {
    admitted--;
    loner = false;
    admitNext();
  };

  const take = async (memoryBytes: number): Promise<Slot> => {
    while (idle.length > 0) {
      const found = idle.findIndex((slot) => slot.usable && slot.memoryBytes >= memoryBytes);
      const slot = idle.splice(Math.max(0, found), 1)[0];
      if (slot === undefined) break;
      if (found >= 0) return slot;
      const tooSmall = slot.usable;
      retire(slot);
      // One small slot makes room for one larger; the others may suit later tasks.
      if (tooSmall) break;
    }
    const begun = await warming.shift()?.catch(() => undefined);
    if (begun?.usable === true && begun.memoryBytes >= memoryBytes) return begun;
    if (begun !== undefined) retire(begun);
    const opening = open(memoryBytes);
    // Includes the turn in which the task that waits for it sees that the pool is closed and retires it.
    track(opening.then(() => undefined));
    return opening;
  };

  const executeOnce = async <T>({ memoryBytes, execute, signal }: Task<T>): Promise<T> => {
    const slot = await take(memoryBytes);
    if (closed) {
      retire(slot);
      throw closedError();
    }
    busy.add(slot);
    const aborted = Promise.withResolvers<never>();
    aborted.promise.catch(() => undefined);
    const abort = () => {
      retire(slot);
      aborted.reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    try {
      signal?.throwIfAborted();
      return await Promise.race([aborted.promise, execute(slot)]);
    } finally {
      signal?.removeEventListener('abort', abort);
      busy.delete(slot);
      if (slot.usable && !closed) idle.push(slot);
      else retire(slot);
    }
  };

  return {
    async run(task) {
      task.signal?.throwIfAborted();
      if (closed) throw closedError();
      await admission(task.signal, task.alone === true);
      try {
        try {
          return await executeOnce(task);
        } catch (error) {
          if (!(error instanceof SlotLost) || closed || task.signal?.aborted === true) throw error;
          return await executeOnce(task);
        }
      } finally {
        release();
      }
    },
    warm({ slots, memoryBytes }) {
      for (let slot = 0; slot < Math.min(slots, size) && !closed; slot += 1) {
        const opening = open(memoryBytes);
        opening.catch(() => undefined);
        warming.push(opening);
      }
    },
    async close() {
      closed = true;
      for (const opening of warming.splice(0)) track(opening.then((slot) => slot.close()));
      for (const { refuse } of waiting.splice(0)) refuse(closedError());
      for (const slot of [...idle.splice(0), ...busy]) retire(slot);
      while (unsettled.size > 0) await Promise.all(unsettled);
    },
  };
}

function closedError(): SandboxError {
  return new SandboxError('the sandbox was closed');
}
