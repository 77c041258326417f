import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBenchmark } from '../problems/benchmark.ts';
import { parseSpecValue } from '../spec/parse-spec.ts';
import { budgetFallsShort, budgetText, forecastText, requireUsefulBudget } from './budget-forecast.ts';
import { type PreparedSweep, planOf } from './prepare-sweep.ts';
import { UserError } from './user-error.ts';

const benchmark = await openBenchmark({ benchmark: 'mini', home: '/nowhere' });
const prices = { prompt: 1, completion: 2 };

function prepared(change: Record<string, unknown>): PreparedSweep {
  const raw = {
    name: 'a',
    benchmark: 'mini',
    strategy: 'zero-shot',
    model: { name: 'm', parameters: { max_tokens: 300 } },
  };
  const parsed = parseSpecValue({ ...raw, ...change });
  if (parsed.kind === 'problems') return assert.fail(JSON.stringify(parsed.problems));
  const endpoint = {
    alias: 'default',
    baseURL: 'http://127.0.0.1:9/v1',
    apiKey: undefined,
    keyEnv: undefined,
    identity: 'http://127.0.0.1:9/v1',
    scripted: false,
  };
  return { spec: parsed.spec, benchmark, tasks: benchmark.taskIds.slice(0, 3), endpoint, scripted: false, env: {} };
}

/** The least budget in tokens that is not refused. */
function leastAccepted(change: Record<string, unknown>): number {
  let [refused, accepted] = [0, 100_000];
  while (accepted - refused > 1) {
    const middle = Math.floor((refused + accepted) / 2);
    try {
      requireUsefulBudget(prepared({ ...change, budget: { tokens: middle } }));
      accepted = middle;
    } catch {
      refused = middle;
    }
  }
  return accepted;
}

test('a budget for not even one request is refused, in tokens and in money', () => {
  const short = leastAccepted({});
  assert.ok(short > 300 && short < 3000, String(short));
  const longer = { name: 'm', parameters: { max_tokens: 1300 } };
  // The longer number takes one more byte in the request.
  assert.ok(leastAccepted({ model: longer }) - short >= 1000, 'a longer reply needs more');
  const usd = (micro: number) => requireUsefulBudget(prepared({ prices, budget: { usd: micro / 1e6 } }));
  usd(short + 300);
  assert.throws(
    () => usd(short + 299),
    (error) => error instanceof UserError && error.exitCode === 2 && /US\$ 0\.00\d+: the smallest/.test(error.message),
  );
  requireUsefulBudget(prepared({}));
});

test('the forecast says what a sweep may take, and how far a budget reaches', () => {
  const free = prepared({});
  const plan = planOf(free);
  assert.match(forecastText(plan), /^3 to 6 requests, about [\d,]+ to [\d,]+ tokens$/);
  assert.equal(budgetText(free.spec, plan), undefined);
  assert.match(forecastText(planOf(prepared({ prices }))), /tokens, US\$ 0\.0\d+ to 0\.0\d+$/);
  const said = (tokens: number) => budgetText(prepared({ budget: { tokens } }).spec, plan);
  assert.match(said(1) ?? '', /^1 tokens: less than the sweep takes at least$/);
  assert.match(said(plan.tokens.least) ?? '', /enough for the least, not for the most$/);
  assert.match(said(plan.tokens.most) ?? '', /enough for the most$/);
  const short = (budget: object) => budgetFallsShort(prepared({ prices, budget }).spec, planOf(prepared({ prices })));
  assert.deepEqual(
    [{}, { tokens: plan.tokens.least }, { tokens: plan.tokens.least - 1 }, { usd: 1 }, { usd: 0.0000001 }].map(short),
    [false, false, true, false, true],
  );
});
