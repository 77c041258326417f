import type { ServerResponse } from 'node:http';

export function sendBody(
  response: ServerResponse,
  status: number,
  type: string,
  body: Buffer,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': type, 'content-length': body.length, ...headers }).end(body);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  value: object,
  headers: Record<string, string> = {},
): void {
  sendBody(response, status, 'application/json; charset=utf-8', Buffer.from(JSON.stringify(value)), headers);
}

export function sendError(response: ServerResponse, status: number, message: string): void {
  sendJson(response, status, { error: { message, type: 'invalid_request_error', code: status } });
}
