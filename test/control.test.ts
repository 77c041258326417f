import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { withoutDocker } from '../src/sandbox/testing.ts';
import { Project } from './support/cli.ts';

const LATENCY_MS = 800;
const SAMPLES = 4;
const TOKENS_A_REPLY = 12;
/** Within this time of a pause the last request is sent. */
const PAUSE_WITHIN_MS = 5000;

describe('control of a sweep from the command line', { skip: withoutDocker, timeout: 280_000 }, () => {
  const project = new Project();
  /** Whatever is asked, the endpoint answers with a wrong program, or refuses the key. */
  let mode: 'ok' | 'unauthorized' = 'ok';
  const arrivals: { at: number; body: string; mode: string }[] = [];
  const server = createServer(async (incoming, response) => {
    const body = await text(incoming);
    response.setHeader('content-type', 'application/json');
    if (incoming.method === 'GET') return response.end(JSON.stringify({ data: [{ id: 'm' }] }));
    arrivals.push({ at: Date.now(), body, mode });
    if (mode === 'unauthorized') {
      response.statusCode = 401;
      return response.end(JSON.stringify({ error: { message: 'the key has expired' } }));
    }
    const entry = /\b(?:def|function|called|named)\b[^a-z]*([a-z_]+)/.exec(body)?.[1] ?? 'f';
    const message = { role: 'assistant', content: `\`\`\`python\ndef ${entry}(*args):\n    return None\n\`\`\`` };
    await delay(LATENCY_MS);
    response.end(
      JSON.stringify({
        choices: [{ message, finish_reason: 'stop' }],
        usage: { prompt_tokens: 9, completion_tokens: 3 },
      }),
    );
  });
  const env: Record<string, string> = { OPENAI_API_KEY: 'key' };
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    env.OPENAI_BASE_URL = `http://127.0.0.1:${address.port}/v1`;
  });
  after(async () => {
    await project.close();
    server.closeAllConnections();
    server.close();
  });

  const run = (...args: string[]) => project.runWith(env, ...args);
  async function succeed(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await run(...args);
    assert.equal(code, 0, `${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  }
  const status = async () => JSON.parse(await succeed('sweep', 'status', 's', '--json'));
  const answered = () => arrivals.filter((arrival) => arrival.mode === 'ok');
  /** Each answer was stored, and nothing that was stored was asked for again. */
  const assertPaidOnce = async () =>
    assert.equal(answered().length * TOKENS_A_REPLY, (await status()).spent.settled.tokens);

  it('pauses, also across a kill of the worker, and goes on where it stood', async () => {
    const spec = [
      '--benchmark',
      'mini',
      '--model',
      'm',
      '--strategy',
      'zero-shot',
      '--samples',
      `${SAMPLES}`,
      '--name',
      's',
    ];
    await succeed('sweep', 'run', ...spec, '--concurrency', '4', '--detach');
    for (let waited = 0; waited < 60_000 && arrivals.length < 8; waited += 50) await delay(50);
    assert.match(await succeed('sweep', 'pause', 's'), /^Paused s/);
    const pausedAt = Date.now();
    const { pid } = JSON.parse(readFileSync(join(project.home, 'dev.json'), 'utf8')).processes.worker;
    await delay(2000);
    process.kill(pid, 'SIGKILL');
    await delay(PAUSE_WITHIN_MS + 8000);
    assert.deepEqual(
      arrivals.filter(({ at }) => at > pausedAt + PAUSE_WITHIN_MS),
      [],
    );
    const held = await status();
    assert.equal(held.state, 'paused');
    assert.ok(held.running);
    assert.equal(held.late, null, 'a problem that waits is not late');

    const before = arrivals.length;
    assert.match(await succeed('sweep', 'unpause', 's'), /^Unpaused s; [1-9]\d* running problems go on/);
    for (let waited = 0; waited < 20_000 && arrivals.length < before + 4; waited += 50) await delay(50);
    assert.ok(arrivals.length >= before + 4, 'goes on');
  });

  it('is blocked by a refused key: few requests are sent, whoever follows it ends with 3, and a resume goes on', async () => {
    mode = 'unauthorized';
    const watched = await run('sweep', 'watch', 's');
    assert.equal(watched.code, 3, watched.stderr);
    assert.match(
      watched.stderr,
      /blocked, and sends nothing more: .*the key has expired\nMend that; then .*sweep resume s/,
    );
    await delay(3000);
    const refused = arrivals.filter((arrival) => arrival.mode === 'unauthorized').length;
    assert.ok(refused >= 1 && refused <= 4, `${refused} requests after the key had expired`);
    const blocked = await status();
    assert.deepEqual([blocked.state, Object.keys(blocked.stages)], ['blocked', ['blocked']]);
    assert.deepEqual([blocked.outcomes.infra, blocked.outcomes.cancelled], [undefined, undefined]);

    mode = 'ok';
    const resumed = await run('sweep', 'resume', 's', '--json');
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.equal((await status()).state, 'completed');
    await assertPaidOnce();
  });

  it('extends a finished sweep and pays for the difference alone', async () => {
    const before = arrivals.length;
    const { outcomes, planned } = await status();
    const extended = JSON.parse(
      await succeed('sweep', 'extend', 's', '--samples', `${SAMPLES + 1}`, '--budget-tokens', '99000000', '--json'),
    );
    assert.equal(extended.planned, (planned / SAMPLES) * (SAMPLES + 1));
    const added = extended.planned - planned;
    // An unusable reply is asked for once more.
    assert.ok(arrivals.length - before >= added && arrivals.length - before <= 2 * added);
    await assertPaidOnce();
    const count = (rows: Record<string, number>) => Object.values(rows).reduce((sum, value) => sum + value, 0);
    assert.equal(count(extended.outcomes), count(outcomes) + added);
  });

  it('retries one problem by hand without paying again, also twice at once, a final one only by force', async () => {
    const before = arrivals.length;
    const refused = await run('sweep', 'retry', 's', 'mini/chunks', '--sample', '3');
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /has the final outcome \w+\.\n.*--force/);
    const retry = () => succeed('sweep', 'retry', 's', 'mini/chunks', '--sample', '3', '--force', '--json');
    for (const retried of (await Promise.all([retry(), retry()])).map((text) => JSON.parse(text)))
      assert.equal(retried.outcome, refused.stderr.match(/final outcome (\w+)/)?.[1]);
    assert.equal(arrivals.length, before);
    const { planned, outcomes } = await status();
    assert.equal(outcomes.not_run, undefined);
    assert.equal(outcomes.cancelled, undefined);
    assert.ok(planned > 0);
  });
});
