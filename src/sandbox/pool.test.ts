import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPool } from './pool.ts';
import { SandboxError } from './sandbox.ts';
import { type Slot, SlotLost } from './slot.ts';

/** Slots without containers; `opened` lists their memory. */
function fakeSlots() {
  const opened: number[] = [];
  const alive = new Set<Slot>();
  const open = async (memoryBytes: number): Promise<Slot> => {
    opened.push(memoryBytes);
    let usable = true;
    const slot: Slot = {
      memoryBytes,
      get usable() {
        return usable;
      },
      run: () => Promise.reject(new Error('not used')),
      close: async () => {
        usable = false;
        alive.delete(slot);
      },
    };
    alive.add(slot);
    return slot;
  };
  return { open, opened, alive };
}

async function lose(slot: Slot): Promise<never> {
  await slot.close();
  throw new SlotLost('gone');
}

describe('the pool', () => {
  test('admits tasks in the order in which they came, never more than its size at once', async () => {
    const { open, opened } = fakeSlots();
    const pool = createPool({ size: 2, open });
    const order: number[] = [];
    let running = 0;
    let most = 0;
    const task = (index: number) =>
      pool.run({
        memoryBytes: 1,
        execute: async () => {
          order.push(index);
          most = Math.max(most, ++running);
          await new Promise((resolve) => setTimeout(resolve, 1));
          running--;
        },
      });
    await Promise.all(Array.from({ length: 20 }, (_, index) => task(index)));
    assert.deepEqual(
      order,
      Array.from({ length: 20 }, (_, index) => index),
    );
    assert.deepEqual({ most, opened: opened.length }, { most: 2, opened: 2 });
    await pool.close();
  });

  test('runs a task once more when its slot is lost, and tells of a second loss', async () => {
    const { open, opened, alive } = fakeSlots();
    const pool = createPool({ size: 1, open });
    let tries = 0;
    assert.equal(
      await pool.run({ memoryBytes: 1, execute: (slot) => (++tries === 1 ? lose(slot) : Promise.resolve('done')) }),
      'done',
    );
    await assert.rejects(pool.run({ memoryBytes: 1, execute: lose }), SlotLost);
    assert.equal(await pool.run({ memoryBytes: 1, execute: async () => 'after' }), 'after');
    assert.equal(opened.length, 4);
    await pool.close();
    assert.equal(alive.size, 0);
  });

  test('a task that is to be alone waits for those before it, and those after it for it', async () => {
    const { open } = fakeSlots();
    const pool = createPool({ size: 2, open });
    const seen: string[] = [];
    const running = new Set<string>();
    const task = (name: string, alone: boolean, signal?: AbortSignal) =>
      pool.run({
        memoryBytes: 1,
        alone,
        signal,
        execute: async () => {
          running.add(name);
          seen.push([...running].join(''));
          await new Promise((resolve) => setTimeout(resolve, 2));
          running.delete(name);
        },
      });
    const stop = new AbortController();
    const tasks = [task('a', false), task('b', false), task('X', true), task('c', false), task('d', false)];
    const left = assert.rejects(task('Y', true, stop.signal));
    const last = task('e', false);
    stop.abort(new Error('enough'));
    await Promise.all([...tasks, left, last]);
    assert.deepEqual(seen.slice(0, 5), ['a', 'ab', 'X', 'c', 'cd']);
    assert.equal(seen.length, 6);
    await pool.close();
  });

  test('does not repeat a task that failed by itself', async () => {
    const pool = createPool({ size: 1, open: fakeSlots().open });
    let tries = 0;
    const failing = pool.run({ memoryBytes: 1, execute: () => Promise.reject(new Error(`try ${++tries}`)) });
    await assert.rejects(failing, /try 1/);
    await pool.close();
  });

  test('frees its place when no slot can be opened', async () => {
    const pool = createPool({ size: 1, open: () => Promise.reject(new SandboxError('no daemon')) });
    await assert.rejects(pool.run({ memoryBytes: 1, execute: async () => 1 }), /no daemon/);
    await assert.rejects(pool.run({ memoryBytes: 1, execute: async () => 1 }), /no daemon/);
    await pool.close();
  });

  test('replaces a slot that is too small, and keeps a larger one', async () => {
    const { open, opened, alive } = fakeSlots();
    const pool = createPool({ size: 1, open });
    for (const memoryBytes of [1, 2, 1]) await pool.run({ memoryBytes, execute: async () => undefined });
    assert.deepEqual(opened, [1, 2]);
    assert.equal(alive.size, 1);
    await pool.close();
  });

  test('an aborted task ends at once, running or queued, and the running one loses its slot', async () => {
    const { open, alive } = fakeSlots();
    const pool = createPool({ size: 1, open });
    const stop = new AbortController();
    const started = Promise.withResolvers<void>();
    const never = () => {
      started.resolve();
      return new Promise<never>(() => undefined);
    };
    const running = pool.run({ memoryBytes: 1, execute: never, signal: stop.signal });
    const queued = pool.run({ memoryBytes: 1, execute: never, signal: stop.signal });
    await started.promise;
    stop.abort(new Error('enough'));
    await assert.rejects(running, /enough/);
    await assert.rejects(queued, /enough/);
    assert.equal(alive.size, 0);
    await assert.rejects(pool.run({ memoryBytes: 1, execute: never, signal: stop.signal }), /enough/);
    assert.equal(await pool.run({ memoryBytes: 1, execute: async () => 'free' }), 'free');
    await pool.close();
  });

  test('closing refuses what waits and what comes', async () => {
    const { open, alive } = fakeSlots();
    const pool = createPool({ size: 1, open });
    const running = pool.run({
      memoryBytes: 1,
      execute: () => new Promise<void>((resolve) => setTimeout(resolve, 20)),
    });
    const queued = pool.run({ memoryBytes: 1, execute: async () => undefined });
    const refused = assert.rejects(queued, SandboxError);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await pool.close();
    await refused;
    await running;
    await assert.rejects(pool.run({ memoryBytes: 1, execute: async () => undefined }), /closed/);
    assert.equal(alive.size, 0);
  });

  test('closing while a slot opens leaves none behind', async () => {
    const { open, alive } = fakeSlots();
    const slow = async (memoryBytes: number) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return open(memoryBytes);
    };
    const pool = createPool({ size: 1, open: slow });
    const refused = assert.rejects(pool.run({ memoryBytes: 1, execute: async () => undefined }), /closed/);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await pool.close();
    assert.equal(alive.size, 0);
    await refused;
  });
});
