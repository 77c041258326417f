import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { answerTo } from './answer.ts';
import { estimateTokens } from './estimate-tokens.ts';

export interface ScriptedModel {
  /** Base URL for a client: ends in `/v1`. */
  url: string;
  /** How often each completion was asked for: sha256 of the request's body → count. */
  arrivals(): Record<string, number>;
  close(): Promise<void>;
}

/** What the model's text is made from; nothing else of a request matters to it. */
interface ScriptedRequest {
  messages: { role: string; content: string }[];
  maxTokens: number | undefined;
}

const MODEL = 'scripted';

/** Prompts are tens of KB at most. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/**
 * Starts the offline model on 127.0.0.1: an OpenAI-compatible server for `chat/completions`, `completions` and `models`, with
 * `/health` and `/arrivals` beside them. The same request gets the same reply, from any process, at any time. `port` 0 or absent
 * takes a free one.
 */
export async function startScriptedModel({
  port = 0,
  latencyMs = 0,
}: {
  port?: number | undefined;
  /** Time before each completion, so that a demo can be watched. */
  latencyMs?: number | undefined;
} = {}): Promise<ScriptedModel> {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    handle(request, response, { counts, latencyMs }).catch((error: unknown) => {
      if (!response.headersSent) sendError(response, 500, error instanceof Error ? error.message : 'unknown failure');
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the scripted model has no port');
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    arrivals: () => Object.fromEntries(counts),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  { counts, latencyMs }: { counts: Map<string, number>; latencyMs: number },
): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://scripted').pathname.replace(/^\/v1(?=\/)/, '');
  switch (`${request.method} ${path}`) {
    case 'GET /health':
      return sendJson(response, 200, { status: 'ok' });
    case 'GET /models':
      return sendJson(response, 200, {
        object: 'list',
        data: [{ id: MODEL, object: 'model', created: 0, owned_by: 'qualityflow' }],
      });
    case 'GET /arrivals':
      return sendJson(response, 200, {
        total: [...counts.values()].reduce((sum, count) => sum + count, 0),
        counts: Object.fromEntries(counts),
      });
    case 'POST /chat/completions':
    case 'POST /completions': {
      const body = await readAll(request);
      const asked = body === undefined ? undefined : readRequest(body, path);
      if (body === undefined || asked === undefined)
        return sendError(response, 400, 'the body is not a completion request');
      const key = createHash('sha256').update(body).digest('hex');
      counts.set(key, (counts.get(key) ?? 0) + 1);
      if (latencyMs > 0) await delay(latencyMs);
      return sendJson(response, 200, completion(path, key, asked));
    }
    default:
      return sendError(response, 404, `no such path: ${path.slice(0, 100)}`);
  }
}

/** The reply in OpenAI's shape; usage is an estimate, and a reply beyond `max_tokens` is cut and says so. */
function completion(path: string, key: string, asked: ScriptedRequest): object {
  const whole = answerTo(asked.messages);
  const limit = asked.maxTokens ?? Number.POSITIVE_INFINITY;
  const cut = estimateTokens(whole) > limit;
  const text = cut
    ? Buffer.from(whole)
        .subarray(0, limit * 4)
        .toString('utf8')
    : whole;
  const prompt_tokens = estimateTokens(asked.messages.map(({ content }) => content).join('\n'));
  const completion_tokens = estimateTokens(text);
  const finish_reason = cut ? 'length' : 'stop';
  const chat = path === '/chat/completions';
  return {
    id: `scripted-${key.slice(0, 16)}`,
    object: chat ? 'chat.completion' : 'text_completion',
    created: 0,
    model: MODEL,
    choices: [
      chat
        ? { index: 0, message: { role: 'assistant', content: text }, finish_reason }
        : { index: 0, text, finish_reason },
    ],
    usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
  };
}

function readRequest(body: Buffer, path: string): ScriptedRequest | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const bound =
    'max_tokens' in parsed
      ? parsed.max_tokens
      : 'max_completion_tokens' in parsed
        ? parsed.max_completion_tokens
        : undefined;
  const maxTokens = typeof bound === 'number' && bound > 0 ? bound : undefined;
  if (path === '/completions') {
    return 'prompt' in parsed && typeof parsed.prompt === 'string'
      ? { messages: [{ role: 'user', content: parsed.prompt }], maxTokens }
      : undefined;
  }
  if (!('messages' in parsed) || !Array.isArray(parsed.messages)) return undefined;
  const messages = parsed.messages.flatMap((message: unknown) =>
    typeof message === 'object' &&
    message !== null &&
    'role' in message &&
    'content' in message &&
    typeof message.content === 'string'
      ? [{ role: String(message.role), content: message.content }]
      : [],
  );
  return { messages, maxTokens };
}

/** The whole body, or undefined when it is too long. */
async function readAll(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  const body = Buffer.from(JSON.stringify(value));
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length })
    .end(body);
}

function sendError(response: ServerResponse, status: number, message: string): void {
  sendJson(response, status, { error: { message, type: 'invalid_request_error', code: status } });
}
