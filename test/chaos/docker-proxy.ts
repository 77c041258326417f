import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';

const ENGINE = (process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock').replace(/^unix:\/\//, '');

/**
 * A socket in front of the Docker engine, by which the engine can vanish for the processes that use it, as it does when its daemon is killed: the
 * daemon itself is not ours to kill.
 */
export class DockerProxy {
  readonly #path: string;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** For DOCKER_HOST. */
  get address(): string {
    return `unix://${this.#path}`;
  }

  async open(): Promise<void> {
    // `allowHalfOpen`: an attached container's input ends before its output does.
    const server = createServer({ allowHalfOpen: true }, (near) => {
      const far = connect({ path: ENGINE, allowHalfOpen: true });
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(from);
        from.pipe(to);
        from.on('error', () => to.destroy());
        from.on('close', () => {
          this.#sockets.delete(from);
          // A peer that was cut off ends nothing by itself.
          if (!from.readableEnded) to.destroy();
        });
      }
    });
    this.#server = server;
    server.listen(this.#path);
    await once(server, 'listening');
  }

  /** Cuts every connection and takes no new one. */
  close(): void {
    this.#server?.close();
    this.#server = undefined;
    for (const socket of this.#sockets) socket.destroy();
    rmSync(this.#path, { force: true });
  }

  /** Gone for this long, then back. */
  async vanish(ms: number): Promise<void> {
    this.close();
    await new Promise((wake) => setTimeout(wake, ms));
    await this.open();
  }
}
