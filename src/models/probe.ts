import { closest } from 'fastest-levenshtein';
import { APIError } from 'openai';
import { reasonOf } from './ask-model.ts';
import type { Endpoint } from './endpoints.ts';
import { openAiClient, readBody } from './http.ts';
import { redact } from './redact.ts';
import { SCRIPTED_OWNER } from './scripted-owner.ts';

/** `unreachable`: no answer, or one of a server that is not well. `refused`: it answers, but not under this key or address. */
export type ProbeCause = 'unreachable' | 'refused' | 'unknown_model';

/** `scripted`: the server says of itself that it is the offline scripted model. */
export type Probe =
  | { kind: 'ok'; scripted: boolean }
  | { kind: 'problem'; cause: ProbeCause; problem: string; remedy: string };

/** A model list is small; whoever needs longer than this would not carry a sweep either. */
const PROBE_TIMEOUT_MS = 15_000;

/**
 * Finds out, before a sweep starts and without a token spent, that there is no key, no server or no such model: one GET of the model
 * list. A server without such a list is taken at its word, and so is one that lists a single model: llama.cpp serves what it has
 * loaded under whatever name it is asked for.
 */
export async function probeEndpoint({
  endpoint,
  model,
  signal,
}: {
  endpoint: Endpoint;
  model: string;
  signal?: AbortSignal | undefined;
}): Promise<Probe> {
  const { identity } = endpoint;
  if (endpoint.keyEnv !== undefined && endpoint.alias !== 'default' && endpoint.apiKey === undefined) {
    return problem(
      'refused',
      `the key of endpoint ${endpoint.alias} is missing`,
      `set the environment variable ${endpoint.keyEnv}`,
    );
  }
  const listing = await listModels(endpoint, signal);
  switch (listing.kind) {
    case 'models': {
      const { names, scripted } = listing;
      // Ollama lists "name:latest" for a model that is asked for as "name".
      if (names.length <= 1 || names.includes(model) || names.includes(`${model}:latest`))
        return { kind: 'ok', scripted };
      const nearest = redact(closest(model, names));
      return problem(
        'unknown_model',
        `${identity} has no model "${redact(model)}"`,
        `did you mean "${nearest}"? It lists ${names.length} models`,
      );
    }
    case 'unreachable':
      return problem(
        'unreachable',
        `${identity} cannot be reached: ${listing.reason}`,
        'start the server, or correct the base URL',
      );
    case 'status':
      if (listing.status === 401 || listing.status === 403) {
        const remedy =
          endpoint.keyEnv === undefined
            ? 'configure an endpoint alias with a key'
            : `set ${endpoint.keyEnv} to a valid key`;
        const did = endpoint.apiKey === undefined ? 'asks for a key' : 'refused the key';
        return problem('refused', `${identity} ${did}`, remedy);
      }
      if (listing.status < 400)
        return problem('refused', `${identity} redirects elsewhere`, 'give the base URL that it redirects to');
      if (listing.status >= 500) {
        return problem(
          'unreachable',
          `${identity} answers HTTP ${listing.status}`,
          'wait until the server is ready, then try again',
        );
      }
      if (listing.status === 404 && !/\/v\d+[^/]*$/.test(identity) && endpoint.baseURL !== undefined) {
        const deeper = await listModels({ ...endpoint, baseURL: withV1(endpoint.baseURL) }, signal);
        if (deeper.kind === 'models')
          return problem('refused', `${identity} is not the API's base URL`, `use ${identity}/v1`);
      }
      return { kind: 'ok', scripted: false };
    case 'no_list':
      return { kind: 'ok', scripted: false };
  }
}

type Listing =
  | { kind: 'models'; names: string[]; scripted: boolean }
  | { kind: 'no_list' }
  | { kind: 'status'; status: number }
  | { kind: 'unreachable'; reason: string };

async function listModels(endpoint: Endpoint, outer: AbortSignal | undefined): Promise<Listing> {
  const limit = AbortSignal.timeout(PROBE_TIMEOUT_MS);
  const signal = outer === undefined ? limit : AbortSignal.any([outer, limit]);
  try {
    const response = await openAiClient(endpoint, PROBE_TIMEOUT_MS).get('/models', { signal }).asResponse();
    const models = modelsIn(await readBody(response, signal));
    if (models.length === 0) return { kind: 'no_list' };
    return {
      kind: 'models',
      names: models.map(({ id }) => id),
      scripted: models.some(({ owner }) => owner === SCRIPTED_OWNER),
    };
  } catch (error) {
    outer?.throwIfAborted();
    if (limit.aborted) return { kind: 'unreachable', reason: `no answer within ${PROBE_TIMEOUT_MS / 1000} s` };
    if (error instanceof APIError && error.status !== undefined) return { kind: 'status', status: error.status };
    return { kind: 'unreachable', reason: redact(reasonOf(error), [endpoint.apiKey]) };
  }
}

function modelsIn(body: string): { id: string; owner: string }[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return [];
  }
  if (typeof parsed !== 'object' || parsed === null || !('data' in parsed) || !Array.isArray(parsed.data)) return [];
  return parsed.data.flatMap((entry: unknown) =>
    typeof entry === 'object' && entry !== null && 'id' in entry && typeof entry.id === 'string'
      ? [{ id: entry.id, owner: 'owned_by' in entry ? String(entry.owned_by) : '' }]
      : [],
  );
}

function withV1(baseURL: string): string {
  const url = new URL(baseURL);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1`;
  return url.href;
}

function problem(cause: ProbeCause, text: string, remedy: string): Probe {
  return { kind: 'problem', cause, problem: text, remedy };
}
