import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { SCRIPTED_OWNER } from '../scripted-owner.ts';
import { ArrivalLog, type Arrivals } from './arrival-log.ts';
import { complete, completionBody, MODEL, type Script, type ScriptedRequest } from './completion.ts';
import { chooseFault, FaultPlan, type FaultPlanInput } from './faults.ts';
import { answerFaultily } from './faulty-answer.ts';
import { sendError, sendJson } from './send.ts';

export interface ScriptedModel {
  /** Base URL for a client: ends in `/v1`. */
  url: string;
  /** How often each completion was asked for: sha256 of the request's body → count. */
  arrivals(): Record<string, number>;
  /** The same with times and ends: what `GET /arrivals` says. */
  log(): Arrivals;
  /** Replaces the fault plan, as `POST /faults` does. Throws when it is none. */
  setFaults(plan: FaultPlanInput): void;
  close(): Promise<void>;
}

/** From this temperature on answers differ by seed. */
const HOT = 0.5;

/** Prompts are tens of KB at most. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

interface State {
  log: ArrivalLog;
  faults: FaultPlan;
  latencyMs: number;
  script: Script | undefined;
}

/**
 * Starts the offline model on 127.0.0.1: an OpenAI-compatible server for `chat/completions`, `completions` and `models`, with `/health`,
 * `/arrivals` and `/faults` beside them. The same request gets the same reply, from any process, at any time; under a fault plan the
 * arrival number of the body counts too (`faults.ts`). `port` 0 or absent takes a free one.
 */
export async function startScriptedModel({
  port = 0,
  latencyMs = 0,
  faults = [],
  script,
}: {
  port?: number | undefined;
  /** Time before each completion, so that a demo can be watched. */
  latencyMs?: number | undefined;
  faults?: FaultPlanInput | undefined;
  /** Another model's answers, in place of those about the bundled problems. */
  script?: Script | undefined;
} = {}): Promise<ScriptedModel> {
  const state: State = { log: new ArrivalLog(), faults: FaultPlan.parse(faults), latencyMs, script };
  const server = createServer((request, response) => {
    handle(request, response, state).catch((error: unknown) => {
      // A client that went away in the middle of its request has no use for an answer.
      if (response.headersSent || response.destroyed) return;
      sendError(response, 500, error instanceof Error ? error.message : 'unknown failure');
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
    arrivals: () => state.log.snapshot().counts,
    log: () => state.log.snapshot(),
    setFaults: (plan) => {
      state.faults = FaultPlan.parse(plan);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handle(request: IncomingMessage, response: ServerResponse, state: State): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://scripted').pathname.replace(/^\/v1(?=\/)/, '');
  switch (`${request.method} ${path}`) {
    case 'GET /health':
      return sendJson(response, 200, { status: 'ok' });
    case 'GET /models':
      return sendJson(response, 200, {
        object: 'list',
        data: [{ id: MODEL, object: 'model', created: 0, owned_by: SCRIPTED_OWNER }],
      });
    case 'GET /arrivals':
      return sendJson(response, 200, state.log.snapshot());
    case 'GET /arrivals/sums':
      return sendJson(response, 200, state.log.sums());
    case 'GET /faults':
      return sendJson(response, 200, { faults: state.faults });
    case 'POST /faults': {
      const plan = FaultPlan.safeParse(parseJson(await readAll(request)));
      if (!plan.success) return sendError(response, 400, plan.error.message);
      state.faults = plan.data;
      return sendJson(response, 200, { faults: state.faults });
    }
    case 'POST /chat/completions':
    case 'POST /completions':
      return answer(await readAll(request), response, path === '/completions' ? 'completions' : 'chat', state);
    default:
      return sendError(response, 404, `no such path: ${path.slice(0, 100)}`);
  }
}

async function answer(
  body: string | undefined,
  response: ServerResponse,
  api: ScriptedRequest['api'],
  { log, faults, latencyMs, script }: State,
): Promise<void> {
  const asked = readRequest(parseJson(body), api);
  if (body === undefined || asked === undefined)
    return sendError(response, 400, 'the body is not a completion request');
  const key = createHash('sha256').update(body).digest('hex');
  const arrival = log.arrive(key, response);
  const fault = chooseFault(faults, { body, arrival });
  const waitMs = latencyMs + (fault?.kind === 'slow' ? fault.waitMs : 0);
  if (waitMs > 0) await delay(waitMs);
  log.answering(key, response, fault);
  const completion = complete(asked, key, script);
  if (fault === undefined) return sendJson(response, 200, completionBody(completion));
  return answerFaultily(response, fault, completion);
}

function readRequest(parsed: unknown, api: ScriptedRequest['api']): ScriptedRequest | undefined {
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const bound =
    'max_tokens' in parsed
      ? parsed.max_tokens
      : 'max_completion_tokens' in parsed
        ? parsed.max_completion_tokens
        : undefined;
  const maxTokens = typeof bound === 'number' && bound > 0 ? bound : undefined;
  const draw = drawOf(parsed);
  if (api === 'completions') {
    return 'prompt' in parsed && typeof parsed.prompt === 'string'
      ? { api, messages: [{ role: 'user', content: parsed.prompt }], maxTokens, draw }
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
  return { api, messages, maxTokens, draw };
}

/** A hot request is answered by its seed, of which the client leaves a thousand to each sample (`request-key.ts`). */
function drawOf(parsed: object): number {
  if (!('temperature' in parsed) || typeof parsed.temperature !== 'number' || parsed.temperature < HOT) return 0;
  return 'seed' in parsed && typeof parsed.seed === 'number' ? Math.abs(Math.floor(parsed.seed / 1000)) : 0;
}

function parseJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The whole body, or undefined when it is too long. */
async function readAll(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
