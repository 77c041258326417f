import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

const module = new URL('on-interrupt.ts', import.meta.url).href;
/** Its work fails while it is being undone, and would start something more. */
const PROGRAM = `
  import { onInterrupt, refuseWhenInterrupted } from ${JSON.stringify(module)};
  const work = Promise.withResolvers();
  onInterrupt(() => console.log('undo first'));
  onInterrupt(async () => {
    work.reject(new Error('what it needs is gone'));
    await new Promise((wake) => setTimeout(wake, 50));
    console.log('undo second');
  });
  onInterrupt(() => console.log('undone already'))();
  setInterval(() => undefined, 1000);
  console.error('ready');
  await work.promise.finally(() => {
    refuseWhenInterrupted();
    console.log('started more');
  });
`;

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`${signal} undoes what was started, the latest first, whatever becomes of the work meanwhile`, async () => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM]);
    const said = text(child.stdout);
    await once(child.stderr, 'data');
    child.kill(signal);
    child.kill(signal);
    const [status] = await once(child, 'exit');
    assert.equal(await said, 'undo second\nundo first\n');
    assert.equal(status, code);
  });
}
