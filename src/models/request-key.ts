import { createHash } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';
import type { JsonValue, ModelRequest } from './model.ts';

/** Fields that this client sets itself: a spec cannot replace them. Streaming and `n` > 1 would be replies nobody reads. */
const OWN_FIELDS = ['model', 'messages', 'prompt', 'stream', 'stream_options', 'n', 'seed'];

/** Distance between the seeds of two samples: more retries than this of one prompt never happen. */
const SEED_STRIDE = 1000;

/** The name of the bound on the reply's length; newer OpenAI models refuse the first one. */
export type BoundName = 'max_tokens' | 'max_completion_tokens';

/**
 * The parameters in force, from the least to the most specific: the prompt's, the spec's `parameters`, the spec's `maxTokens` of
 * the agent. A parameter set to null is not sent. `seed` differs by sample and retry and is sent only where it can matter, at a
 * temperature above 0. Stop words are for `completions` alone: in chat they cut answers at a blank line (known fault B1/17).
 */
export function effectiveParameters({
  settings,
  prompt,
  seed,
  sample,
  retry,
}: ModelRequest): Record<string, JsonValue> {
  const { max_completion_tokens: given, ...parameters } = passedThrough(settings.parameters);
  const merged: Record<string, JsonValue> = {
    temperature: prompt.temperature,
    ...(prompt.topP === undefined ? {} : { top_p: prompt.topP }),
    max_tokens: given ?? prompt.maxTokens,
    ...(settings.api === 'completions' && prompt.stop !== undefined && prompt.stop.length > 0
      ? { stop: prompt.stop }
      : {}),
    ...parameters,
  };
  const agentBound = settings.maxTokens[prompt.agent];
  if (agentBound !== undefined) merged.max_tokens = agentBound;
  if (typeof merged.temperature === 'number' && merged.temperature > 0)
    merged.seed = seed + SEED_STRIDE * sample + retry;
  if (given !== undefined && merged.max_tokens !== undefined) {
    merged.max_completion_tokens = merged.max_tokens;
    delete merged.max_tokens;
  }
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
}

function passedThrough(fields: Record<string, JsonValue>): Record<string, JsonValue> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !OWN_FIELDS.includes(name)));
}

/** The JSON body of the request, every string in it well-formed Unicode, so that what is hashed is what is sent. */
export function requestBody(request: ModelRequest, boundName: BoundName = 'max_tokens'): Record<string, JsonValue> {
  const { settings, prompt } = request;
  const body: Record<string, JsonValue> = { ...effectiveParameters(request), ...passedThrough(settings.extraBody) };
  if (boundName === 'max_completion_tokens' && body.max_tokens !== undefined) {
    body.max_completion_tokens = body.max_tokens;
    delete body.max_tokens;
  }
  body.model = settings.name;
  if (settings.api === 'chat') body.messages = prompt.messages.map(({ role, content }) => ({ role, content }));
  else body.prompt = prompt.messages[0]?.content ?? '';
  return wellFormedObject(body);
}

/**
 * sha256 (hex) over everything that determines a request: endpoint, model, api, body, prompt version, seed, sample and retry index.
 * The name of the length bound is not part of it: the same question asked in the words a server accepts is the same question.
 */
export function requestKey({ request, endpointIdentity }: { request: ModelRequest; endpointIdentity: string }): string {
  const { settings, prompt, seed, sample, retry } = request;
  const canonical = canonicalJson({
    endpoint: endpointIdentity,
    api: settings.api,
    body: requestBody(request),
    version: prompt.version,
    seed,
    sample,
    retry,
  });
  return createHash('sha256').update(canonical).digest('hex');
}

function wellFormedObject(value: Record<string, JsonValue>): Record<string, JsonValue> {
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name.toWellFormed(), wellFormed(field)]));
}

function wellFormed(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  return value !== null && typeof value === 'object' ? wellFormedObject(value) : value;
}
