import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultMaxTokens, promptVersions } from './prompt-facts.ts';

test('every agent of QualityFlow has a version and a bound; zero-shot depends on its one prompt alone', () => {
  const flow = promptVersions({
    kind: 'quality-flow',
    checker: 'imagined',
    diversified: 6,
    tests: { queries: 5, perQuery: 10, shared: true },
    tqc: true,
    debugEpochs: 3,
    carryForward: false,
    clarifier: true,
    clarifierAttempts: 3,
    revert: true,
    checkerSeesProblem: false,
  });
  assert.deepEqual(Object.keys(flow).toSorted(), [
    'clarifier',
    'critic',
    'generator',
    'imaginedExecution',
    'selfDebugger',
    'testDesigner',
    'testJudge',
  ]);
  assert.match(flow.generator ?? '', /^generator\/0@\S+ generator\/1@/);
  assert.deepEqual(Object.keys(promptVersions({ kind: 'zero-shot' })), ['generator']);
  for (const [agent, tokens] of Object.entries(defaultMaxTokens())) assert.ok(tokens > 0, agent);
});
