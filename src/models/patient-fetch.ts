import http from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';

/** As long as undici gives a connection; after it the wait is the caller's business. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Finds out about a peer that vanished while a reply takes minutes. */
const KEEP_ALIVE_MS = 30_000;

/** Statuses whose response has no body, by the rules of `Response`. */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * `fetch` for long waits. Node's own gives up when no header has come for 300 s, and a busy local server answers a queued request only
 * when it has computed it; here `init.signal` alone sets the limit. Redirects are not followed, so that a key goes nowhere else.
 */
export function patientFetch(
  url: string,
  init: {
    method: string;
    headers: Record<string, string>;
    body: string | undefined;
    signal: AbortSignal | undefined;
    /** Called when a connection stands: from then on the request may have arrived. */
    onConnected?: (() => void) | undefined;
  },
): Promise<Response> {
  const { method, headers, body, signal, onConnected } = init;
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? https.request : http.request;
    // A connection a request: next to a completion it costs nothing, and no stale one is ever reused.
    const request = send(url, { method, headers, agent: false, ...(signal === undefined ? {} : { signal }) });
    request.on('error', reject);
    request.once('socket', (socket) => {
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      if (onConnected !== undefined) socket.once(url.startsWith('https:') ? 'secureConnect' : 'connect', onConnected);
      if (!socket.connecting) return;
      const limit = setTimeout(
        () => request.destroy(new Error(`no connection within ${CONNECT_TIMEOUT_MS / 1000} s`)),
        CONNECT_TIMEOUT_MS,
      );
      for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(limit));
    });
    request.once('response', (incoming) => {
      const status = incoming.statusCode ?? 0;
      const fields = Object.entries(incoming.headers).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, String(value)]],
      );
      if (status < 200 || status > 599) {
        request.destroy(new Error(`impossible status ${status}`));
        return;
      }
      const stream = WITHOUT_BODY.has(status) ? null : asWebStream(incoming);
      resolve(new Response(stream, { status, headers: fields }));
    });
    request.end(body);
  });
}

function asWebStream(incoming: http.IncomingMessage): ReadableStream<Uint8Array> {
  const reader = Readable.toWeb(incoming).getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
