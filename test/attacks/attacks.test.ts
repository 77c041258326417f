import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createDockerSandbox } from '../../src/sandbox/docker-sandbox.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { docker, ownContainers, sandboxImage, withoutDocker } from '../../src/sandbox/testing.ts';
import { ATTACKS } from './programs/index.ts';
import { held, runAttacks } from './run-attacks.ts';

describe('hostile programs', { skip: withoutDocker }, () => {
  let lanes: Sandbox[];
  before(async () => {
    const imageId = await sandboxImage();
    lanes = await Promise.all([1, 2].map(() => createDockerSandbox({ docker, imageId, slots: 1 })));
  });
  after(async () => {
    await Promise.all(lanes.map((lane) => lane.close()));
    assert.deepEqual(await ownContainers(), []);
  });

  test('none forges a verdict, hangs its grader, survives, or harms the next one', async (t) => {
    const findings: string[] = [];
    // Other tests run beside this one.
    const result = await runAttacks({
      lanes,
      attacks: ATTACKS,
      hungMs: 60_000,
      note: (line) => findings.push(line),
    });
    t.diagnostic(JSON.stringify(result));
    assert.deepEqual(findings, []);
    assert.ok(held(result));
    assert.ok(result.programs >= 80, `${result.programs} programs`);
  });

  test('a forgery, and a grader that gives up, would be counted', async () => {
    const [attack] = ATTACKS.equality ?? [];
    assert.ok(attack !== undefined);
    const run = (grade: Parameters<typeof runAttacks>[0]['grade']) =>
      runAttacks({
        lanes: lanes.slice(0, 1),
        attacks: { one: [attack] },
        note: () => undefined,
        ...(grade && { grade }),
      });
    const forged = await run(async () => [{ verdict: 'pass', tests: 1, passed: 1 }]);
    assert.deepEqual([forged.forged, held(forged)], [1, false]);
    const lost = await run(() => Promise.reject(new Error('gone')));
    assert.deepEqual([lost.infra, held(lost)], [1, false]);
    const clean = await run(undefined);
    assert.ok(held(clean));
  });
});
