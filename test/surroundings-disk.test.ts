import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { withoutDocker } from '../src/sandbox/testing.ts';
import { repeatedCalls } from './chaos/calls.ts';
import { miniSweep } from './chaos/mini-sweep.ts';
import { startModelProcess } from './chaos/model-process.ts';
import { booksOf, resultOf } from './chaos/result-of.ts';
import { Project } from './support/cli.ts';
import { assertRefused } from './support/refused.ts';
import { SmallDisk } from './support/small-disk.ts';

describe('the disk of the state folder', { skip: withoutDocker, timeout: 240_000 }, () => {
  const project = new Project();
  const disk = SmallDisk.at(project.home, 64);
  const skip = disk === undefined && 'this user may not mount a small disk';
  after(async () => {
    await project.run('down');
    disk?.unmount();
    await project.close();
  });
  const spec = (name: string, endpoint: string) => {
    const path = join(project.folder, `${name}.yaml`);
    writeFileSync(path, JSON.stringify({ ...miniSweep({ name, endpoint }), limit: 4 }));
    return path;
  };

  it('read-only, then full, then neither: the same command works', { skip }, async () => {
    const commands = [['dev'], ['sweep', 'run', spec('early', 'scripted')]];
    disk?.readOnly(true);
    for (const command of commands) {
      const told = {
        code: 3,
        wrong: /cannot be (written to|opened for writing)/,
        remedy: /permissions.*QUALITYFLOW_HOME/,
      };
      assertRefused(await project.run(...command), told);
    }
    disk?.readOnly(false);
    disk?.fill();
    for (const command of commands) {
      assertRefused(await project.run(...command), { code: 3, wrong: /is full/, remedy: /Free some space/ });
    }
    assert.equal((await project.run('down')).code, 0);
    disk?.free();
    assert.equal((await project.run('dev')).code, 0);
  });

  it('full in mid-sweep: nothing is asked twice, nothing lost, and it goes on by itself when there is room', {
    skip,
  }, async () => {
    const model = await startModelProcess({ faults: [], latencyMs: 300 });
    try {
      const running = project.run('sweep', 'run', spec('full', model.url), '--json');
      while ((await model.sums()).completed < 6) await pause(20);
      disk?.fill();
      // Requests that were under way end, and no new one gets as far as its reservation.
      let before = -1;
      for (let now = (await model.sums()).total; now !== before; now = (await model.sums()).total) {
        before = now;
        await pause(2000);
      }
      const status = await project.run('sweep', 'status', 'full', '--json');
      assert.equal(status.code, 0, status.stderr);
      assert.equal(JSON.parse(status.stdout).state, 'running');
      disk?.free();
      const { code, stderr } = await running;
      assert.equal(code, 0, stderr);

      const arrivals = await model.arrivals();
      const books = booksOf({ home: project.home, sweep: 'full', endpoint: model.url });
      assert.deepEqual([repeatedCalls(arrivals, books), books.open], [[], 0]);
      assert.ok(arrivals.total > before, 'it went on');
      for (const [body, log] of Object.entries(arrivals.bodies)) {
        const keys = books.replies.get(body)?.keys.length ?? 0;
        assert.equal(log.arrivals.length, keys, `${body} was asked once for each of its replies`);
      }
      const { outcomes, planned } = await resultOf({ home: project.home, sweep: 'full' });
      assert.equal(Object.keys(outcomes).length, planned);
      for (const outcome of Object.values(outcomes)) assert.match(outcome, /^(pass|wrong|error) /);
    } finally {
      await model.stop();
    }
  });
});
