import OpenAI from 'openai';
import type { Endpoint } from './endpoints.ts';
import { ModelError } from './model.ts';
import { patientFetch } from './patient-fetch.ts';

/** The headers a request may carry. The client would also send what OPENAI_CUSTOM_HEADERS holds, to any base URL. */
const SENT_HEADERS = ['accept', 'authorization', 'content-type', 'user-agent'];

/** A reply beyond this is no completion; it would only fill the memory. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;

/**
 * The `openai` client for an endpoint: no retries of its own (Temporal owns them) and nothing read from the environment, so that a
 * literal URL gets no key, organisation or header that was configured for another one. `onConnected`: a request may have arrived from then on.
 */
export function openAiClient(endpoint: Endpoint, timeoutMs: number, onConnected?: () => void): OpenAI {
  if (endpoint.baseURL === undefined) throw new ModelError('unavailable', 'the scripted model is not running');
  const url = new URL(endpoint.baseURL);
  return new OpenAI({
    baseURL: `${url.origin}${url.pathname}`,
    defaultQuery: Object.fromEntries(url.searchParams),
    // Local servers ask for none, the client insists on one.
    apiKey: endpoint.apiKey ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
    maxRetries: 0,
    timeout: timeoutMs,
    fetch: (input, init) => {
      const given = new Headers(init?.headers);
      const headers = Object.fromEntries(
        SENT_HEADERS.flatMap((name) => (given.has(name) ? [[name, given.get(name) ?? '']] : [])),
      );
      if (init?.body !== undefined && init.body !== null && typeof init.body !== 'string')
        throw new TypeError('only text bodies are sent');
      return patientFetch(String(input instanceof Request ? input.url : input), {
        method: init?.method ?? 'GET',
        headers,
        body: init?.body ?? undefined,
        signal: init?.signal ?? undefined,
        onConnected,
      });
    },
  });
}

/** The whole body as text. Aborting `signal` ends the wait at once, also between two chunks of a body that never ends. */
export async function readBody(response: Response, signal: AbortSignal): Promise<string> {
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const cancel = () => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    while (true) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return Buffer.concat(chunks).toString('utf8');
      bytes += value.byteLength;
      if (bytes > MAX_BODY_BYTES) {
        cancel();
        throw new ModelError('malformed', `the reply is longer than ${MAX_BODY_BYTES} bytes`, {
          status: response.status,
        });
      }
      chunks.push(value);
    }
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
