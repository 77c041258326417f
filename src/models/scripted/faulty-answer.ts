import type { ServerResponse } from 'node:http';
import { type Completion, completionBody, firstBytes } from './completion.ts';
import type { Fault } from './faults.ts';
import { sendBody, sendJson } from './send.ts';

/** What providers usually say with a status; the product classifies by words too. */
const WORDS: Record<number, { message: string; code?: string }> = {
  400: { message: 'Invalid value for a parameter.', code: 'invalid_value' },
  401: { message: 'Incorrect API key provided.', code: 'invalid_api_key' },
  402: { message: 'Payment required.' },
  403: { message: 'Your account has no access to this resource.' },
  404: { message: 'The model does not exist or you do not have access to it.', code: 'model_not_found' },
  408: { message: 'The request timed out.' },
  409: { message: 'The request conflicts with another.' },
  422: { message: 'The request cannot be processed.' },
  429: { message: 'Too many requests.', code: 'rate_limit_exceeded' },
  503: { message: 'The server is overloaded, try again later.' },
  529: { message: 'Overloaded.', code: 'overloaded_error' },
};

/** Answers as the rule says. `completion` is what would have been said. */
export function answerFaultily(response: ServerResponse, fault: Fault, completion: Completion): void {
  const send = (body: object) => sendJson(response, 200, body);
  const chat = completion.api === 'chat';
  const content = chat ? 'content' : 'text';
  const { text } = completion;
  switch (fault.kind) {
    case 'status':
      return sendJson(response, fault.status, { error: errorOf(fault) }, retryAfter(fault));
    case 'refuses-max-tokens':
      return sendJson(response, 400, {
        error: {
          message: `Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.`,
          type: 'invalid_request_error',
          param: 'max_tokens',
          code: 'unsupported_parameter',
        },
      });
    case 'refuses-max-completion-tokens':
      return sendJson(response, 400, {
        error: { message: 'Unknown parameter: max_completion_tokens.', type: 'invalid_request_error', code: null },
      });
    case 'hang':
      return;
    case 'hang-body':
      return beginOnly(response, completion);
    case 'cut':
      beginOnly(response, completion);
      setTimeout(() => response.destroy(), 20);
      return;
    case 'reset':
      response.destroy();
      return;
    case 'garbage':
      return sendBody(
        response,
        200,
        'application/json',
        Buffer.from('{"choices":[{"mess\u0000\u001b[2J\ufffd]]', 'utf8'),
      );
    case 'html':
      return sendBody(
        response,
        200,
        'text/html',
        Buffer.from('<!doctype html><title>Gateway</title><p>One moment.</p>'),
      );
    case 'empty-body':
      return sendBody(response, 200, 'application/json', Buffer.alloc(0));
    case 'error-in-200':
      return send({ error: { ...errorOf(fault), code: fault.code ?? fault.status } });
    case 'error-in-choice': {
      const error = { ...errorOf(fault), code: fault.code ?? fault.status };
      return send({
        ...completionBody(completion),
        choices: [{ index: 0, error, finish_reason: 'error' }],
        usage: null,
      });
    }
    case 'choices-missing':
      return send({ id: 'none', object: 'chat.completion', model: 'scripted' });
    case 'no-choices':
      return send(completionBody(completion, { own: { choices: [], usage: null } }));
    case 'no-choices-filtered': {
      const filter = { prompt_index: 0, content_filter_results: { violence: { filtered: true, severity: 'high' } } };
      return send(completionBody(completion, { own: { choices: [], usage: null, prompt_filter_results: [filter] } }));
    }
    case 'content-null':
      return send(completionBody(completion, { fields: { [content]: null } }));
    case 'content-missing':
      return send(completionBody(completion, { fields: {} }));
    case 'refusal':
      return send(completionBody(completion, { fields: { [content]: null, refusal: 'I cannot help with that.' } }));
    case 'content-filter':
      return send(completionBody({ ...completion, finishReason: 'content_filter' }, { fields: { [content]: '' } }));
    case 'truncated': {
      const half = firstBytes(text, Math.floor(Buffer.byteLength(text) / 2));
      return send(completionBody({ ...completion, text: half, finishReason: 'length' }));
    }
    case 'finish-reason':
      return send(completionBody({ ...completion, finishReason: fault.finishReason }));
    case 'reasoning-only':
      return send(completionBody(completion, { fields: { [content]: null, reasoning_content: text } }));
    case 'unclosed-thinking':
      return send(completionBody({ ...completion, text: `<think>\n${text}` }));
    case 'tool-calls': {
      const call = { id: 'call_1', type: 'function', function: { name: 'python', arguments: '{"code":"1"}' } };
      const fields = { [content]: null, tool_calls: [call] };
      return send(completionBody({ ...completion, finishReason: 'tool_calls' }, { fields }));
    }
    case 'no-tool-calls':
      return send(completionBody(completion, { fields: { [content]: null, tool_calls: [] } }));
    case 'no-usage':
      return send(completionBody(completion, { own: { usage: null } }));
    case 'slow':
      return send(completionBody(completion));
  }
}

function errorOf({ status, code, message }: Fault): { message: string; type: string; code: string | null } {
  const usual = WORDS[status] ?? { message: 'The server had an error while processing the request.' };
  const type = status === 429 ? 'requests' : status >= 500 ? 'server_error' : 'invalid_request_error';
  return { message: message ?? usual.message, type, code: code ?? usual.code ?? null };
}

function retryAfter({ retryAfter: wait }: Fault): Record<string, string> {
  switch (wait?.as) {
    case undefined:
      return {};
    case 'ms':
      return { 'retry-after-ms': String(wait.ms) };
    case 'seconds':
      return { 'retry-after': String(Math.ceil(wait.ms / 1000)) };
    // An HTTP date counts in seconds: the next one, so that the wait is never shorter.
    case 'date':
      return { 'retry-after': new Date(Math.ceil((Date.now() + wait.ms) / 1000) * 1000).toUTCString() };
  }
}

/** Half of the completion under a header that promises the whole. */
function beginOnly(response: ServerResponse, completion: Completion): void {
  const body = Buffer.from(JSON.stringify(completionBody(completion)));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.write(body.subarray(0, Math.floor(body.length / 2)));
}
