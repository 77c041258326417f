import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AdaptiveSlots } from './adaptive-slots.ts';

test('admits as many as the limit says at that moment', async () => {
  let limit = 2;
  const slots = new AdaptiveSlots(() => limit);
  const { signal } = new AbortController();
  await slots.reserveSlot({}, signal);
  await slots.reserveSlot({}, signal);
  assert.equal(slots.tryReserveSlot(), null);

  let admitted = false;
  const third = slots.reserveSlot({}, signal).then(() => {
    admitted = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal(admitted, false);
  limit = 3;
  await third;

  limit = 1;
  slots.releaseSlot();
  slots.releaseSlot();
  assert.equal(slots.tryReserveSlot(), null, 'one still runs, which is the whole limit');
  slots.releaseSlot();
  assert.notEqual(slots.tryReserveSlot(), null);
});

test('a waiting reservation that is no longer needed rejects with the reason it was given', async () => {
  const slots = new AdaptiveSlots(() => 0);
  const controller = new AbortController();
  await slots.reserveSlot({}, controller.signal);
  const waiting = slots.reserveSlot({}, controller.signal);
  const reason = new DOMException('not needed', 'AbortError');
  controller.abort(reason);
  await assert.rejects(waiting, (error) => error === reason);
});
