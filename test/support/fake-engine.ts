import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import Docker from 'dockerode';

/** One frame of the runner as it comes out of an attached container: inside one of Docker's own, on standard output. */
export function runnerFrame(tag: string, body: Buffer | string | object): Buffer {
  const data = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const size = Buffer.alloc(4);
  size.writeUInt32BE(data.length + 1);
  return Buffer.concat([size, Buffer.from(tag, 'latin1'), data]);
}

export function dockerFrame(data: Buffer): Buffer {
  const header = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(data.length, 4);
  return Buffer.concat([header, data]);
}

/** What the runner says of calls [first, first + count). */
export function rowFrame(tag: 'R' | 'N', first: number, count: number, row: Buffer | object): Buffer {
  const place = Buffer.alloc(8);
  place.writeUInt32BE(first >>> 0);
  place.writeUInt32BE(count >>> 0, 4);
  return runnerFrame(tag, Buffer.concat([place, Buffer.isBuffer(row) ? row : Buffer.from(JSON.stringify(row))]));
}

/** What a program says of calls from `first` on: a frame of its own each. */
export function saidFrame(first: number, rows: readonly { tag: string; body: Buffer | string }[]): Buffer {
  const place = Buffer.alloc(4);
  place.writeUInt32BE(first >>> 0);
  const said = rows.map(({ tag, body }) => {
    const header = Buffer.alloc(5, tag, 'latin1');
    header.writeUInt32BE(Buffer.byteLength(body), 1);
    return Buffer.concat([header, Buffer.from(body)]);
  });
  return runnerFrame('B', Buffer.concat([place, ...said]));
}

/** Writes to the host what the runner of a container answers to a job; `end` is the end of the container. */
type Answer = (job: { op: string }, out: { write: (data: Buffer) => void; end: () => void }) => void;

/**
 * As much of a Docker engine as the sandbox needs, without containers: what their runner says is up to the test. `hangs`: takes requests and
 * bytes and says nothing any more.
 */
export class FakeEngine {
  hangs = false;
  /** What it says instead of making a container. */
  refusal: string | undefined;
  /** Containers that were made. */
  created = 0;
  readonly docker: Docker;
  readonly #path: string;
  readonly #answer: Answer;
  readonly #server: Server;
  readonly #attached = new Map<string, Duplex>();
  readonly #sockets = new Set<Duplex>();

  constructor({ path, answer }: { path: string; answer: Answer }) {
    this.#path = path;
    this.#answer = answer;
    this.docker = new Docker({ socketPath: path });
    this.#server = createServer((request, response) => this.#serve(request, response));
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex) => this.#attach(request, socket));
  }

  async open(): Promise<void> {
    this.#server.listen(this.#path);
    await once(this.#server, 'listening');
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    rmSync(this.#path, { force: true });
  }

  #serve({ method = '', url = '' }: IncomingMessage, response: ServerResponse): void {
    const id = /containers\/(c\d+)/.exec(url)?.[1] ?? '';
    if (url.includes('/containers/create')) this.created++;
    if (this.hangs) return;
    const reply = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (url.includes('/containers/create') && this.refusal !== undefined) return reply(500, { message: this.refusal });
    if (url.includes('/containers/create')) return reply(201, { Id: `c${this.created}`, Warnings: [] });
    if (url.includes('/containers/json')) return reply(200, []);
    if (url.includes('/start')) {
      this.#attached.get(id)?.write(dockerFrame(runnerFrame('J', { ready: true })));
      response.writeHead(204).end();
      return;
    }
    if (method === 'DELETE') {
      this.#attached.get(id)?.destroy();
      response.writeHead(204).end();
      return;
    }
    reply(404, { message: 'no such thing' });
  }

  #attach({ url = '' }: IncomingMessage, socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.write(
      'HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n',
    );
    this.#attached.set(/containers\/(c\d+)/.exec(url)?.[1] ?? '', socket);
    let heard = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      heard = Buffer.concat([heard, chunk]);
      for (let request = takeRequest(); request !== undefined; request = takeRequest()) this.#reply(request, socket);
    });

    function takeRequest(): { op: string } | undefined {
      if (heard.length < 4) return undefined;
      const size = heard.readUInt32BE(0);
      if (heard.length < 8 + size || heard.length < 8 + size + heard.readUInt32BE(4 + size)) return undefined;
      const request: { op: string } = JSON.parse(heard.subarray(4, 4 + size).toString('utf8'));
      heard = heard.subarray(8 + size + heard.readUInt32BE(4 + size));
      return request;
    }
  }

  #reply(request: { op: string }, socket: Duplex): void {
    if (this.hangs) return;
    const say = (message: object) => socket.write(dockerFrame(runnerFrame('J', message)));
    if (request.op === 'ping') {
      say({ pong: true });
    } else if (request.op === 'versions') {
      say({ versions: { python: '3', numpy: '1' } });
      say({ done: true });
    } else {
      this.#answer(request, { write: (data) => socket.write(data), end: () => socket.end() });
    }
  }
}
