import { connect } from 'node:net';

const PAUSE_MS = 20;

/**
 * Resolves as soon as somebody listens at `address` (host:port), or when `ms` are over: whoever connects then hears why nobody does. A gRPC
 * client that finds the port closed comes back after a second at the earliest, and the embedded server opens it within a tenth of one.
 */
export async function listening(address: string, ms: number): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await accepts(address)) && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}

function accepts(address: string): Promise<boolean> {
  const { hostname, port } = new URL(`tcp://${address}`);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), timeout: 1000 });
    const settle = (found: boolean) => {
      socket.destroy();
      resolve(found);
    };
    socket.on('connect', () => settle(true));
    socket.on('error', () => settle(false));
    socket.on('timeout', () => settle(false));
  });
}
