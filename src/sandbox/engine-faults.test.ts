import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { dockerFrame, FakeEngine, rowFrame, runnerFrame, saidFrame } from '../../test/support/fake-engine.ts';
import { createDockerSandbox } from './docker-sandbox.ts';
import { type Sandbox, SandboxError } from './sandbox.ts';
import { rowsOf } from './testing.ts';

const folder = mkdtempSync(join(tmpdir(), 'qualityflow-engine-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const DONE = runnerFrame('J', { done: true, recycle: null });
const values = (first: number, ...texts: string[]) =>
  saidFrame(
    first,
    texts.map((body) => ({ tag: 'V', body })),
  );
const ask = (sandbox: Sandbox) => rowsOf(sandbox, 'def f(x): pass', ['1', '2']);

async function onEngine(
  answer: ConstructorParameters<typeof FakeEngine>[0]['answer'],
  work: (engine: FakeEngine, sandbox: Sandbox) => Promise<void>,
): Promise<void> {
  const engine = new FakeEngine({ path: join(folder, 'engine.sock'), answer });
  await engine.open();
  const sandbox = await createDockerSandbox({ docker: engine.docker, imageId: 'image', slots: 1 });
  try {
    await work(engine, sandbox);
  } finally {
    await sandbox.close();
    engine.close();
  }
}

describe('whatever comes out of a container', () => {
  const bytes = fc.uint8Array({ maxLength: 30 }).map((array) => Buffer.from(array));
  const number = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant(0xff_ff_ff_ff), fc.nat());
  const row = fc.oneof(
    fc.constant(Buffer.from('{"value":"7","printed":""}')),
    fc.constant(Buffer.from('{"kind":"timeout","waited":"machine"}')),
    fc.json().map((text) => Buffer.from(text)),
    bytes,
  );
  const frame = fc.oneof(
    fc
      .tuple(fc.constantFrom('R', 'N'), number, number, row)
      .map(([tag, first, count, body]) =>
        tag === 'R' ? rowFrame('R', first, count, body) : rowFrame('N', first, count, body),
      ),
    fc
      .tuple(
        number,
        fc.array(fc.record({ tag: fc.constantFrom('V', 'P', 'R', 'M', 'z'), body: row }), { maxLength: 3 }),
      )
      .map(([first, rows]) => saidFrame(first, rows)),
    fc
      .tuple(fc.constantFrom('R', 'N', 'S', 'B', 'L', 'J', 'O', 'E', '\0', 'z'), bytes)
      .map(([tag, body]) => runnerFrame(tag, body)),
    bytes,
  );
  /** Frames that are whole, cut short, said to be longer than they are, or said twice. */
  const said = fc.tuple(frame, fc.constantFrom('whole', 'cut', 'long', 'twice')).map(([data, how]) => {
    if (how === 'cut') return data.subarray(0, data.length >> 1);
    if (how === 'twice') return Buffer.concat([data, data]);
    if (how === 'long' && data.length >= 4) return Buffer.concat([Buffer.from([0x7f]), data.subarray(1)]);
    return data;
  });
  const noise = fc.tuple(fc.array(said, { maxLength: 6 }), fc.boolean(), fc.boolean());

  test('no bytes crash the host, hold it up, or make a value that nobody sent', async () => {
    let next: { data: Buffer; raw: boolean } = { data: DONE, raw: false };
    await onEngine(
      (_, { write, end }) => {
        write(next.raw ? next.data : dockerFrame(next.data));
        end();
      },
      (_, sandbox) =>
        fc.assert(
          fc.asyncProperty(noise, async ([parts, done, raw]) => {
            next = { data: Buffer.concat([...parts, ...(done ? [DONE] : [])]), raw };
            try {
              const rows = await ask(sandbox);
              assert.equal(rows.length, 2);
              for (const found of rows) {
                if (found.kind !== 'value') continue;
                assert.ok(
                  next.data.includes(found.value, 0, 'latin1') || next.data.includes(JSON.stringify(found.value)),
                  found.value,
                );
              }
            } catch (error) {
              assert.ok(error instanceof SandboxError, String(error));
            }
          }),
          { seed: 5, numRuns: 100 },
        ),
    );
  });

  const cases: [what: string, frames: Buffer[], expected: string][] = [
    ['all rows', [values(0, '7', '7')], 'value value'],
    ['one row', [values(0, '7')], 'infra'],
    ['a row twice', [values(0, '7', '7'), values(1, '8')], 'infra'],
    ['a row of a call that was not asked', [values(0, '7', '7', '7')], 'infra'],
    ['a row of a far call', [values(0, '7', '7'), values(0xff_ff_ff_fe, '7')], 'infra'],
    ['a row without a place', [runnerFrame('R', Buffer.alloc(3))], 'infra'],
    ['values that are cut off', [runnerFrame('B', values(0, '7', '7').subarray(5, -1))], 'infra'],
    ['a value in a frame of exceptions', [rowFrame('R', 0, 2, { kind: 'value', value: '7' })], 'crash crash'],
    ['rows that are none', [rowFrame('R', 0, 2, Buffer.from('[['))], 'crash crash'],
    [
      'a program that says it was stopped',
      [rowFrame('R', 0, 2, { kind: 'timeout', waited: 'machine' })],
      'crash crash',
    ],
    ['the runner saying so', [rowFrame('N', 0, 2, { kind: 'timeout' })], 'timeout timeout'],
  ];
  for (const [what, frames, expected] of cases) {
    test(`${what}: ${expected}`, async () => {
      await onEngine(
        (_, { write }) => write(dockerFrame(Buffer.concat([...frames, DONE]))),
        async (_, sandbox) => {
          const kinds = await ask(sandbox).then(
            (rows) => rows.map(({ kind }) => kind).join(' '),
            (error) => (error instanceof SandboxError ? 'infra' : String(error)),
          );
          assert.equal(kinds, expected);
        },
      );
    });
  }

  test('a frame said to be huge costs its container at once, not memory', async () => {
    await onEngine(
      (_, { write }) => write(dockerFrame(Buffer.from([0xff, 0xff, 0xff, 0xff]))),
      async (engine, sandbox) => {
        // The container is lost twice, and a fresh one works.
        assert.deepEqual(new Set((await ask(sandbox)).map(({ kind }) => kind)), new Set(['crash']));
        assert.equal(engine.created, 3);
      },
    );
  });
});

test('an engine without room on its disk is infrastructure, and work goes on when there is some', async () => {
  await onEngine(
    (_, { write }) => write(dockerFrame(Buffer.concat([values(0, '7', '7'), DONE]))),
    async (engine, sandbox) => {
      engine.refusal = 'no space left on device';
      await assert.rejects(ask(sandbox), (error) => error instanceof SandboxError && /no space/.test(error.message));
      engine.refusal = undefined;
      assert.equal((await ask(sandbox))[0]?.kind, 'value');
    },
  );
});

describe('an engine that hangs', () => {
  const right = values(0, '7', '7');

  test('is infrastructure, while a container starts and while a program runs, and work goes on when it is back', async (t) => {
    let hangsInJob = false;
    const reached = { job: () => {} };
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    await onEngine(
      (_, { write }) => {
        reached.job();
        if (!hangsInJob) write(dockerFrame(Buffer.concat([right, DONE])));
      },
      async (engine, sandbox) => {
        const until = async (holds: () => boolean) => {
          while (!holds()) await turn();
        };
        /** The clock runs as fast as the process can follow. */
        const settled = async <T>(work: Promise<T>): Promise<T> => {
          let open = true;
          void work.catch(() => undefined).finally(() => (open = false));
          while (open) {
            t.mock.timers.tick(1000);
            await turn();
          }
          return work;
        };

        engine.hangs = true;
        const starting = ask(sandbox);
        await until(() => engine.created === 1);
        await assert.rejects(settled(starting), (error) => error instanceof SandboxError && /60 s/.test(error.message));
        engine.hangs = false;
        assert.equal((await ask(sandbox))[0]?.kind, 'value');

        hangsInJob = true;
        const asked = new Promise<void>((resolve) => (reached.job = resolve));
        const running = ask(sandbox);
        await asked;
        engine.hangs = true;
        await assert.rejects(settled(running), (error) => error instanceof SandboxError && /60 s/.test(error.message));

        [engine.hangs, hangsInJob] = [false, false];
        assert.equal((await ask(sandbox))[0]?.kind, 'value');
      },
    );
  });
});
