import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { pruneImages } from './prune-images.ts';
import { docker, withoutDocker } from './testing.ts';

describe('old images', { skip: withoutDocker }, () => {
  const repository = `qualityflow-prune-test-${process.pid}`;
  const tags = async (): Promise<string[]> => {
    const found = await docker.listImages({ filters: { reference: [repository, `${repository}-other`] } });
    return found.flatMap(({ RepoTags }) => RepoTags ?? []).sort();
  };
  after(async () => {
    for (const tag of await tags()) await docker.getImage(tag).remove({ force: true });
  });

  /** An image is a root file system; this one has nothing but a name in it. */
  const make = async (tag: string): Promise<string> => {
    const stream = await docker.importImage(Readable.from([Buffer.alloc(1024)]), { repo: repository, tag });
    await new Promise<void>((resolve, reject) =>
      docker.modem.followProgress(stream, (error) => (error === null ? resolve() : reject(error))),
    );
    // Docker dates images by the second.
    await delay(1100);
    return (await docker.getImage(`${repository}:${tag}`).inspect()).Id;
  };

  test('the current one and the newest beside it stay, and what a container uses', async () => {
    const used = await make('used');
    const current = await make('current');
    const container = await docker.createContainer({ Image: used, Cmd: ['none'] });
    try {
      await make('old');
      await make('newest');
      await docker.getImage(current).tag({ repo: `${repository}-other`, tag: 'x' });
      await pruneImages({ docker, log: () => undefined, repository, current, beside: 1 });
      const left = await tags();
      assert.deepEqual(left, [
        `${repository}-other:x`,
        `${repository}:current`,
        `${repository}:newest`,
        `${repository}:used`,
      ]);
    } finally {
      await container.remove({ force: true });
    }
    await pruneImages({ docker, log: () => undefined, repository, current, beside: 1 });
    assert.ok(!(await tags()).includes(`${repository}:used`));
  });
});
