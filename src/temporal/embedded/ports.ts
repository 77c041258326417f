import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { z } from 'zod';
import { writeFileAtomically } from './write-file.ts';

const Ports = z.object({ temporal: z.int(), ui: z.int(), scripted: z.int() });
export type Ports = z.infer<typeof Ports>;

/**
 * Ports of this home, remembered in `path`, so that the UI's address and the scripted model's URL stay the same from start to start.
 * One that somebody else uses by now is replaced.
 */
export async function choosePorts(path: string): Promise<Ports> {
  const remembered = readPorts(path);
  const ports: Ports = {
    temporal: await freePort(remembered?.temporal),
    ui: await freePort(remembered?.ui),
    scripted: await freePort(remembered?.scripted),
  };
  writeFileAtomically(path, `${JSON.stringify(ports)}\n`);
  return ports;
}

function readPorts(path: string): Ports | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return Ports.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Below the range from which systems take ports for outgoing connections, which could otherwise occupy ours while we are down. */
const FIRST = 20_000;
const COUNT = 10_000;

async function freePort(preferred: number | undefined): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred))) return preferred;
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
