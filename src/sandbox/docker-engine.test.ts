import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { z } from 'zod';
import { connectDocker, dockerStatus } from './docker-engine.ts';
import { SandboxError } from './sandbox.ts';

const target = z.object({
  socketPath: z.string().optional(),
  host: z.string().optional(),
  port: z.coerce.number().optional(),
  protocol: z.string().optional(),
  username: z.string().optional(),
});
const targetOf = (env: Record<string, string>) => target.parse(connectDocker({ env }).modem);

describe('which Docker engine is used', () => {
  let home = '';
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'qualityflow-engine-'));
  });
  after(() => rm(home, { recursive: true }));

  const hosts: [host: string, expected: object][] = [
    ['unix:///run/other.sock', { socketPath: '/run/other.sock' }],
    ['tcp://127.0.0.1:2375', { host: '127.0.0.1', port: 2375, protocol: 'http' }],
    ['engine.example:1234', { host: 'engine.example', port: 1234, protocol: 'http' }],
    ['ssh://me@engine.example', { host: 'engine.example', port: 22, protocol: 'ssh', username: 'me' }],
  ];
  for (const [host, expected] of hosts) {
    test(`DOCKER_HOST=${host}`, () => {
      const { socketPath, ...rest } = targetOf({ HOME: home, DOCKER_HOST: host });
      const seen = socketPath === undefined ? rest : { socketPath };
      for (const [key, value] of Object.entries(expected))
        assert.equal(Object.entries(seen).find(([name]) => name === key)?.[1], value, key);
    });
  }

  test('a DOCKER_HOST that is no address is refused in one sentence', () => {
    assert.throws(() => connectDocker({ env: { HOME: home, DOCKER_HOST: 'tcp://a b' } }), SandboxError);
  });

  test('the current context of the client, and DOCKER_CONTEXT before it', async () => {
    const add = async (name: string, host: string) => {
      const folder = join(home, '.docker/contexts/meta', createHash('sha256').update(name).digest('hex'));
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, 'meta.json'), JSON.stringify({ Name: name, Endpoints: { docker: { Host: host } } }));
    };
    await add('colima', 'unix:///home/colima.sock');
    await add('far', 'tcp://far.example:2375');
    await writeFile(join(home, '.docker/config.json'), JSON.stringify({ currentContext: 'colima' }));
    assert.equal(targetOf({ HOME: home }).socketPath, '/home/colima.sock');
    assert.equal(targetOf({ HOME: home, DOCKER_CONTEXT: 'far' }).host, 'far.example');
    assert.equal(targetOf({ HOME: home, DOCKER_HOST: 'unix:///first.sock' }).socketPath, '/first.sock');
    assert.throws(
      () => connectDocker({ env: { HOME: home, DOCKER_CONTEXT: 'absent' } }),
      /context "absent" does not exist/,
    );
  });

  test('no engine is a problem with a remedy, not an exception', async () => {
    const docker = connectDocker({ env: { HOME: home, DOCKER_HOST: `unix://${join(home, 'none.sock')}` } });
    const status = await dockerStatus({ docker });
    assert.ok(!status.ok);
    assert.match(status.problem, /no Docker engine/);
    assert.match(status.remedy, /start Docker/);
  });

  test('something else that answers is not taken for an engine', async () => {
    const path = join(home, 'odd.sock');
    const server = createServer((socket) =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}'),
    );
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const status = await dockerStatus({
      docker: connectDocker({ env: { HOME: home, DOCKER_HOST: `unix://${path}` } }),
    });
    server.close();
    assert.equal(status.ok, false);
  });
});
