import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { type Asked, askModel, type Billing, BudgetExhausted } from './ask-model.ts';
import { type Endpoint, resolveEndpoint } from './endpoints.ts';
import { type Cost, type Ledger, ModelError, type ModelReply, type ModelRequest, type ReplyStore } from './model.ts';
import { probeEndpoint } from './probe.ts';

interface Seen {
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** A server that answers with `answer`, and what it was asked. */
async function serve(
  t: TestContext,
  answer: (response: ServerResponse, seen: Seen) => void,
): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const one = { url: request.url ?? '', headers: request.headers, body };
    seen.push(one);
    answer(response, one);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { url: `http://127.0.0.1:${address.port}/v1`, seen };
}

function json(response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

const good = {
  model: 'served',
  choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 2 },
};

class MemoryReplies implements ReplyStore {
  readonly rows = new Map<string, ModelReply>();
  readonly settled: { reservation: string; cost: Cost }[] = [];

  async getReply(key: string): Promise<ModelReply | undefined> {
    return this.rows.get(key);
  }

  async putReply(
    key: string,
    _request: ModelRequest,
    reply: ModelReply,
    settles?: { reservation: string; cost: Cost },
  ): Promise<void> {
    if (!this.rows.has(key)) this.rows.set(key, reply);
    if (settles !== undefined) this.settled.push(settles);
  }
}

/** Grants `grants` reservations, numbered from 1, and then answers `then`; notes what becomes of each. */
class MemoryLedger implements Ledger {
  readonly log: string[] = [];
  readonly bounds: Cost[] = [];
  #grants: number;
  readonly #otherwise: 'wait' | 'exhausted';

  constructor(grants: number, otherwise: 'wait' | 'exhausted' = 'exhausted') {
    this.#grants = grants;
    this.#otherwise = otherwise;
  }

  async reserve({ bound }: { bound: Cost }) {
    if (this.#grants === 0) return { kind: this.#otherwise };
    this.#grants--;
    this.bounds.push(bound);
    return { kind: 'reserved' as const, reservation: String(this.bounds.length) };
  }

  async release(reservation: string): Promise<void> {
    this.log.push(`released ${reservation}`);
  }

  async markPossiblyCharged(reservation: string): Promise<void> {
    this.log.push(`possibly charged ${reservation}`);
  }

  async spent(): ReturnType<Ledger['spent']> {
    throw new Error('askModel does not look at sums');
  }
}

function billing(ledger: Ledger): Billing {
  const account = { sweep: 's', taskId: 't', sample: 0, step: 'generate/0', attempt: 'run/1/1' };
  return { ledger, account, prices: { prompt: 1, completion: 2 } };
}

interface Asking {
  replies?: ReplyStore;
  name?: string;
  requestTimeoutMs?: number;
  signal?: AbortSignal;
  endpoint?: Endpoint;
}

function ask(url: string, asking: Asking = {}): Promise<Asked> {
  return askModel(question(url, asking));
}

function question(
  url: string,
  {
    replies = new MemoryReplies(),
    name = 'm',
    requestTimeoutMs = 5000,
    signal = new AbortController().signal,
    endpoint,
  }: Asking,
) {
  const request: ModelRequest = {
    settings: { endpoint: url, name, api: 'chat', parameters: {}, extraBody: {}, maxTokens: {}, requestTimeoutMs },
    prompt: {
      version: 'generator/0@1',
      agent: 'generator',
      messages: [{ role: 'user', content: 'hello' }],
      temperature: 0,
      maxTokens: 9,
    },
    seed: 0,
    sample: 0,
    retry: 0,
  };
  return { request, endpoint: endpoint ?? resolveEndpoint({ endpoint: url, env: {} }), replies, signal };
}

test('a reply is stored, and then reused without a request', async (t) => {
  const { url, seen } = await serve(t, (response) => json(response, 200, good));
  const replies = new MemoryReplies();
  const first = await ask(url, { replies });
  const second = await ask(url, { replies });
  assert.deepEqual([first.reused, second.reused, seen.length], [false, true, 1]);
  assert.deepEqual(second.reply, first.reply);
  assert.partialDeepStrictEqual(first.reply, {
    kind: 'ok',
    text: 'hi',
    finishReason: 'stop',
    usage: { prompt: 1, completion: 2 },
    model: 'served',
  });
  assert.equal(seen[0]?.url, '/v1/chat/completions');
  assert.deepEqual(JSON.parse(seen[0]?.body ?? ''), {
    model: 'm',
    messages: [{ role: 'user', content: 'hello' }],
    temperature: 0,
    max_tokens: 9,
  });
});

test('equal requests at the same time share one completion', async (t) => {
  const { url, seen } = await serve(t, (response) => void setTimeout(() => json(response, 200, good), 50));
  const replies = new MemoryReplies();
  const asked = await Promise.all([ask(url, { replies }), ask(url, { replies }), ask(url, { replies })]);
  assert.equal(seen.length, 1);
  assert.deepEqual(
    asked.map(({ reused }) => reused),
    [false, true, true],
  );
});

test("equal requests share a failure, but not another caller's cancellation", async (t) => {
  const failing = await serve(t, (response) => void setTimeout(() => json(response, 500, {}), 50));
  const replies = new MemoryReplies();
  const outcomes = await Promise.allSettled([ask(failing.url, { replies }), ask(failing.url, { replies })]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(failing.seen.length, 1);

  const slow = await serve(t, (response) => void setTimeout(() => json(response, 200, good), 50));
  const controller = new AbortController();
  const reason = new Error('cancelled');
  const first = assert.rejects(ask(slow.url, { replies, signal: controller.signal }), (error) => error === reason);
  const second = ask(slow.url, { replies });
  setTimeout(() => controller.abort(reason), 10);
  await first;
  assert.equal((await second).reused, false);
});

test('a reply that another process stored first is the one that counts', async (t) => {
  const { url } = await serve(t, (response) => json(response, 200, good));
  const other: ModelReply = {
    kind: 'ok',
    text: 'theirs',
    reasoning: '',
    finishReason: 'stop',
    usage: null,
    model: 'm',
    latencyMs: 1,
  };
  let reads = 0;
  const replies: ReplyStore = {
    getReply: async () => (reads++ === 0 ? undefined : other),
    putReply: async () => undefined,
  };
  assert.equal((await ask(url, { replies })).reply.text, 'theirs');
});

test('a reply that cannot be used is stored too: it was paid for', async (t) => {
  const { url, seen } = await serve(t, (response) => json(response, 200, { choices: [], usage: null }));
  const replies = new MemoryReplies();
  assert.equal((await ask(url, { replies })).reply.kind, 'empty');
  assert.equal((await ask(url, { replies })).reused, true);
  assert.equal(seen.length, 1);
});

test('a literal URL gets the placeholder key, whatever the environment holds', async (t) => {
  const { url, seen } = await serve(t, (response) => json(response, 200, good));
  const before = { ...process.env };
  t.after(() => {
    process.env = before;
  });
  Object.assign(process.env, {
    OPENAI_API_KEY: 'secret-a',
    OPENAI_ORG_ID: 'secret-b',
    OPENAI_PROJECT_ID: 'secret-c',
    OPENAI_CUSTOM_HEADERS: 'X-Own: secret-d',
  });
  await ask(url);
  assert.equal(seen[0]?.headers.authorization, 'Bearer none');
  assert.doesNotMatch(JSON.stringify(seen[0]?.headers), /secret/);
});

test('every failure is one request, with its class, and nothing is stored', async (t) => {
  const cases: [answer: (response: ServerResponse) => void, kind: string][] = [
    [(r) => json(r, 401, { error: { message: 'bad key sk-abcdefgh' } }), 'unauthorized'],
    [(r) => json(r, 500, {}), 'unavailable'],
    [(r) => json(r, 429, { error: { message: 'quota', code: 'insufficient_quota' } }), 'quota'],
    [(r) => json(r, 400, { error: { message: 'content policy' } }), 'rejected'],
    [(r) => json(r, 400, { error: { message: 'maximum context length is 10 tokens' } }), 'context_too_long'],
    [(r) => json(r, 200, { error: { code: 429, message: 'later' } }), 'rate_limited'],
    [(r) => r.writeHead(502, { 'content-type': 'text/html' }).end('<html>\u001b[2J</html>'), 'unavailable'],
    [(r) => r.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>'), 'malformed'],
    [(r) => r.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[{'), 'malformed'],
    [(r) => void r.writeHead(200, { 'content-length': '999' }).write('{"choices"', () => r.destroy()), 'unavailable'],
    [(r) => void r.destroy(), 'unavailable'],
  ];
  for (const [answer, kind] of cases) {
    const { url, seen } = await serve(t, answer);
    const replies = new MemoryReplies();
    await assert.rejects(ask(url, { replies }), (error) => {
      assert.ok(error instanceof ModelError);
      assert.equal(error.kind, kind);
      assert.doesNotMatch(error.message, /sk-abc|\p{Cc}/u);
      assert.ok(error.message.includes('127.0.0.1'));
      return true;
    });
    assert.deepEqual([seen.length, replies.rows.size], [1, 0], kind);
  }
});

test('the wait an endpoint asks for comes with the error, and nobody sleeps it off', async (t) => {
  const { url } = await serve(t, (response) =>
    json(response, 429, { error: { message: 'later' } }, { 'retry-after': '3600' }),
  );
  const startedMs = Date.now();
  await assert.rejects(ask(url), (error) => error instanceof ModelError && error.retryAfterMs === 3_600_000);
  assert.ok(Date.now() - startedMs < 2000);
});

test('no server is unavailable, with the reason', async () => {
  await assert.rejects(
    ask('http://127.0.0.1:9/v1'),
    (error) =>
      error instanceof ModelError && error.kind === 'unavailable' && /ECONNREFUSED|bad port/.test(error.message),
  );
});

test('a model that refuses max_tokens is asked again under the other name, once, and remembered', async (t) => {
  const { url, seen } = await serve(t, (response, { body }) =>
    'max_tokens' in JSON.parse(body)
      ? json(response, 400, {
          error: { message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead." },
        })
      : json(response, 200, good),
  );
  const first = await ask(url, { name: 'newer' });
  const second = await ask(url, { name: 'newer' });
  assert.equal(first.key, second.key);
  assert.deepEqual(
    seen.map(({ body }) => JSON.parse(body).max_completion_tokens),
    [undefined, 9, 9],
  );
});

test('a reply that never ends is given up after the time limit', async (t) => {
  const { url } = await serve(t, (response) => void response.writeHead(200).write('{"choices"'));
  await assert.rejects(
    ask(url, { requestTimeoutMs: 150 }),
    (error) => error instanceof ModelError && error.kind === 'unavailable' && /within 0.15 s/.test(error.message),
  );
});

test('an abort rethrows its own reason, before, during the wait and in mid-body', async (t) => {
  const reason = new Error('cancelled by the caller');
  await assert.rejects(
    ask('http://127.0.0.1:9/v1', { signal: AbortSignal.abort(reason) }),
    (error) => error === reason,
  );
  for (const answer of [() => undefined, (response: ServerResponse) => void response.writeHead(200).write('{')]) {
    const { url } = await serve(t, answer);
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 100);
    await assert.rejects(ask(url, { signal: controller.signal }), (error) => error === reason);
  }
});

test('a reply settles its reservation at what it cost; a stored one needs none', async (t) => {
  const { url } = await serve(t, (response) => json(response, 200, good));
  const replies = new MemoryReplies();
  const ledger = new MemoryLedger(1);
  const asked = await askModel({ ...question(url, { replies }), billing: billing(ledger) });
  assert.equal(asked.kind, 'reply');
  const again = await askModel({ ...question(url, { replies }), billing: billing(ledger) });
  assert.ok(again.kind === 'reply' && again.reused);
  assert.deepEqual(replies.settled, [{ reservation: '1', cost: { tokens: 3, microUsd: 5 } }]);
  assert.deepEqual(ledger.log, []);
  const [bound] = ledger.bounds;
  assert.ok(bound !== undefined && bound.tokens > 9 && bound.microUsd === bound.tokens + 9, JSON.stringify(bound));
});

test('a reply without a token count settles at the bound', async (t) => {
  const { url } = await serve(t, (response) => json(response, 200, { choices: [], usage: null }));
  const replies = new MemoryReplies();
  const ledger = new MemoryLedger(1);
  await askModel({ ...question(url, { replies }), billing: billing(ledger) });
  assert.deepEqual(
    replies.settled.map(({ cost }) => cost),
    ledger.bounds,
  );
});

test('what becomes of a reservation without a reply, by class', async (t) => {
  const refused = 'released 1';
  const perhaps = 'possibly charged 1';
  const html = { 'content-type': 'text/html' };
  const cases: [name: string, answer: (response: ServerResponse) => void, log: string][] = [
    ['401', (r) => json(r, 401, { error: { message: 'bad key' } }), refused],
    ['400', (r) => json(r, 400, { error: { message: 'content policy' } }), refused],
    ['429', (r) => json(r, 429, { error: { message: 'later' } }, { 'retry-after': '1' }), refused],
    ['429 quota', (r) => json(r, 429, { error: { code: 'insufficient_quota' } }), refused],
    ['429 inside 200', (r) => json(r, 200, { error: { code: 429, message: 'later' } }), refused],
    ['503', (r) => json(r, 503, {}, { 'retry-after': '1' }), refused],
    ['529', (r) => json(r, 529, {}), refused],
    ['a redirect', (r) => r.writeHead(308, { location: 'http://127.0.0.1:9/' }).end(), refused],
    ['408', (r) => json(r, 408, {}), perhaps],
    ['500', (r) => json(r, 500, {}), perhaps],
    ['502 page', (r) => r.writeHead(502, html).end('<html></html>'), perhaps],
    ['504', (r) => json(r, 504, {}), perhaps],
    ['an error without status inside 200', (r) => json(r, 200, { error: { message: 'broke off' } }), perhaps],
    ['a page in 200', (r) => r.writeHead(200, html).end('<html></html>'), perhaps],
    ['half a body', (r) => r.writeHead(200, html).end('{"choices":[{'), perhaps],
    [
      'cut in mid-body',
      (r) => void r.writeHead(200, { 'content-length': '999' }).write('{', () => r.destroy()),
      perhaps,
    ],
    ['cut before a word', (r) => void r.destroy(), perhaps],
  ];
  for (const [name, answer, log] of cases) {
    const { url } = await serve(t, answer);
    const ledger = new MemoryLedger(1);
    const replies = new MemoryReplies();
    await assert.rejects(askModel({ ...question(url, { replies }), billing: billing(ledger) }), ModelError, name);
    assert.deepEqual([ledger.log, replies.settled], [[log], []], name);
  }
  const silent = await serve(t, () => undefined);
  const slow = new MemoryLedger(1);
  await assert.rejects(
    askModel({ ...question(silent.url, { requestTimeoutMs: 100 }), billing: billing(slow) }),
    ModelError,
  );
  assert.deepEqual(slow.log, [perhaps], 'no reply in time');
});

test('what was never sent costs nothing; what was cancelled on its way may', async (t) => {
  const nobody = new MemoryLedger(1);
  await assert.rejects(askModel({ ...question('http://127.0.0.1:1/v1', {}), billing: billing(nobody) }), ModelError);
  assert.deepEqual(nobody.log, ['released 1'], 'connection refused');

  const plain = await serve(t, (response) => json(response, 200, good));
  const tls = new MemoryLedger(1);
  const https = plain.url.replace('http:', 'https:');
  await assert.rejects(askModel({ ...question(https, {}), billing: billing(tls) }), ModelError);
  assert.deepEqual([tls.log, plain.seen.length], [['released 1'], 0], 'no TLS there');

  const reason = new Error('cancelled');
  const { url, seen } = await serve(t, () => controller.abort(reason));
  const controller = new AbortController();
  const ledger = new MemoryLedger(1);
  await assert.rejects(
    askModel({ ...question(url, { signal: controller.signal }), billing: billing(ledger) }),
    (error) => error === reason,
  );
  assert.deepEqual([ledger.log, seen.length], [['possibly charged 1'], 1]);
});

test('without room in the budget nothing is sent: a wait is an outcome, an end is an error', async (t) => {
  const { url, seen } = await serve(t, (response) => json(response, 200, good));
  const wait = await askModel({ ...question(url, {}), billing: billing(new MemoryLedger(0, 'wait')) });
  assert.deepEqual(wait, { kind: 'awaits_budget' });
  await assert.rejects(
    askModel({ ...question(url, {}), billing: billing(new MemoryLedger(0, 'exhausted')) }),
    (error) => error instanceof BudgetExhausted && /the budget of the sweep s has no room/.test(error.message),
  );
  assert.equal(seen.length, 0);
});

test('equal requests share one reservation; when the first finds no room, each asks for itself', async (t) => {
  const { url, seen } = await serve(t, (response) => void setTimeout(() => json(response, 200, good), 50));
  const replies = new MemoryReplies();
  const ledger = new MemoryLedger(1);
  const one = () => askModel({ ...question(url, { replies }), billing: billing(ledger) });
  await Promise.all([one(), one(), one()]);
  assert.deepEqual([seen.length, replies.settled.length], [1, 1]);
  const none = new MemoryLedger(0, 'wait');
  const other = () => askModel({ ...question(url, { name: 'n', replies }), billing: billing(none) });
  assert.deepEqual(await Promise.all([other(), other()]), [{ kind: 'awaits_budget' }, { kind: 'awaits_budget' }]);
});

test('a refused max_tokens leaves one reservation for both ways of asking', async (t) => {
  const { url } = await serve(t, (response, { body }) =>
    'max_tokens' in JSON.parse(body)
      ? json(response, 400, {
          error: {
            message: "Use 'max_completion_tokens' instead of 'max_tokens': max_tokens vs max_completion_tokens",
          },
        })
      : json(response, 503, {}),
  );
  const ledger = new MemoryLedger(1);
  await assert.rejects(askModel({ ...question(url, { name: 'fussy' }), billing: billing(ledger) }), ModelError);
  assert.deepEqual(ledger.log, ['released 1']);
});

test('a reply that cannot be stored leaves its reservation possibly charged, and the failure is told', async (t) => {
  const { url } = await serve(t, (response) => json(response, 200, good));
  const full = new Error('the disk is full');
  const replies: ReplyStore = {
    getReply: async () => undefined,
    putReply: async () => Promise.reject(full),
  };
  const ledger = new MemoryLedger(1);
  await assert.rejects(
    askModel({ ...question(url, { replies }), billing: billing(ledger) }),
    (error) => error === full,
  );
  assert.deepEqual(ledger.log, ['possibly charged 1']);
  const away = new MemoryLedger(1);
  away.markPossiblyCharged = async () => Promise.reject(new Error('full too'));
  await assert.rejects(askModel({ ...question(url, { replies }), billing: billing(away) }), (error) => error === full);
});

test('a reply that could not be stored is stored by the next attempt, and not asked for again', async (t) => {
  const { url, seen } = await serve(t, (response) => json(response, 200, good));
  const replies = new MemoryReplies();
  const put = replies.putReply.bind(replies);
  const ledger = new MemoryLedger(9);
  const attempt = () => askModel({ ...question(url, { replies }), billing: billing(ledger) });
  replies.putReply = async () => Promise.reject(new Error('the disk is full'));
  for (let times = 0; times < 3; times += 1) await assert.rejects(attempt(), /the disk is full/);
  replies.putReply = put;
  const asked = await attempt();
  assert.deepEqual([asked.kind, asked.kind === 'reply' && asked.reused], ['reply', false]);
  assert.equal(seen.length, 1);
  assert.deepEqual(
    replies.settled.map(({ reservation }) => reservation),
    ['1'],
    'the reservation under which it was sent',
  );
  assert.equal(ledger.bounds.length, 1);
  const again = await attempt();
  assert.deepEqual([again.kind === 'reply' && again.reused, replies.settled.length], [true, 1]);
});

test('who is cancelled while it looks into the store does not wait for the same question of another', async (t) => {
  const { url } = await serve(t, () => {});
  const replies = new MemoryReplies();
  const [first, second] = [new AbortController(), new AbortController()];
  const asking = ask(url, { replies, signal: first.signal });
  const look = replies.getReply.bind(replies);
  replies.getReply = async (key) => {
    second.abort(new Error('cancelled'));
    return look(key);
  };
  await assert.rejects(ask(url, { replies, signal: second.signal }), /cancelled/);
  first.abort(new Error('over'));
  await assert.rejects(asking, /over/);
});

test('the probe says in one sentence what is wrong, and costs no completion', async (t) => {
  const probe = (url: string, model = 'm') =>
    probeEndpoint({ endpoint: resolveEndpoint({ endpoint: url, env: {} }), model });
  const listing =
    (names: string[]) =>
    (response: ServerResponse, { url }: Seen) =>
      url === '/v1/models' ? json(response, 200, { data: names.map((id) => ({ id })) }) : json(response, 404, {});
  const many = await serve(t, listing(['qwen-coder:latest', 'llama']));
  assert.deepEqual(await probe(many.url, 'qwen-coder'), { kind: 'ok', scripted: false });
  assert.match(
    JSON.stringify(await probe(many.url, 'lama')),
    /"unknown_model".*no model \\"lama\\".*did you mean \\"llama\\"/,
  );
  assert.match(JSON.stringify(await probe(many.url.replace('/v1', ''))), /is not the API's base URL.*\/v1/);
  const one = await serve(t, listing(['loaded.gguf']));
  assert.equal((await probe(one.url, 'anything')).kind, 'ok');
  const elsewhere = await serve(t, (response) => response.writeHead(308, { location: one.url }).end());
  assert.match(JSON.stringify(await probe(elsewhere.url)), /redirects elsewhere/);
  assert.equal(one.seen.length, 1, 'a redirect is not followed');
  for (const [status, expected] of [
    [401, /"refused".*asks for a key/],
    [403, /"refused".*asks for a key/],
    [404, /"ok"/],
    [405, /"ok"/],
    [503, /"unreachable".*answers HTTP 503/],
  ] as const) {
    const { url } = await serve(t, (response) => json(response, status, {}));
    assert.match(JSON.stringify(await probe(url)), expected);
  }
  assert.match(JSON.stringify(await probe('http://127.0.0.1:9/v1')), /"unreachable".*cannot be reached/);
  assert.ok([...many.seen, ...one.seen].every(({ url }) => url.endsWith('/models')));
});

test('a configured key that is missing is named before anything is sent', async () => {
  const endpoint = resolveEndpoint({
    endpoint: 'fast',
    env: {},
    configured: { fast: { baseURL: 'http://127.0.0.1:9/v1', keyEnv: 'FAST_KEY' } },
  });
  assert.match(
    JSON.stringify(await probeEndpoint({ endpoint, model: 'm' })),
    /key of endpoint fast is missing.*FAST_KEY/,
  );
});
