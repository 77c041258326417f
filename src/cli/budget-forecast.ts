import { GENERATOR_PROMPTS, generatorPrompt } from '../agents/generator.ts';
import { boundOf } from '../models/cost.ts';
import type { Cost } from '../models/model.ts';
import type { RequestPlan } from '../spec/plan.ts';
import type { SweepSpec } from '../spec/spec.ts';
import type { PreparedSweep } from './prepare-sweep.ts';
import { grouped } from './progress.ts';
import { UserError } from './user-error.ts';

/** What a sweep may take, in one line. */
export function forecastText({ requests, tokens, usd }: RequestPlan): string {
  const money = usd === null ? '' : `, US$ ${dollars(usd.least)} to ${dollars(usd.most)}`;
  return `${range(requests)} requests, about ${range(tokens)} tokens${money}`;
}

/** How a budget compares with the plan; undefined without one. */
export function budgetText({ budget }: SweepSpec, plan: RequestPlan): string | undefined {
  const parts: string[] = [];
  if (budget.tokens !== undefined) parts.push(`${grouped(budget.tokens)} tokens${reach(budget.tokens, plan.tokens)}`);
  if (budget.usd !== undefined)
    parts.push(`US$ ${dollars(budget.usd)}${plan.usd === null ? '' : reach(budget.usd, plan.usd)}`);
  return parts.length === 0 ? undefined : parts.join(', ');
}

/** Whether the budget cannot carry even the least that the sweep takes. */
export function budgetFallsShort({ budget }: SweepSpec, { tokens, usd }: RequestPlan): boolean {
  return (
    (budget.tokens ?? Number.POSITIVE_INFINITY) < tokens.least ||
    (usd !== null && (budget.usd ?? Number.POSITIVE_INFINITY) < usd.least)
  );
}

function reach(budget: number, { least, most }: { least: number; most: number }): string {
  if (budget < least) return ': less than the sweep takes at least';
  return budget < most ? ': enough for the least, not for the most' : ': enough for the most';
}

/** Refuses a budget under which not even the smallest first request could be sent: the sweep would only end as `budget_exhausted`. */
export function requireUsefulBudget({ spec, benchmark, tasks }: PreparedSweep): void {
  const { budget } = spec;
  if (budget.tokens === undefined && budget.usd === undefined) return;
  let tokens = Number.POSITIVE_INFINITY;
  let microUsd = Number.POSITIVE_INFINITY;
  for (const taskId of tasks) {
    for (const bound of firstBounds(spec, benchmark.problem(taskId))) {
      tokens = Math.min(tokens, bound.tokens);
      microUsd = Math.min(microUsd, bound.microUsd);
    }
  }
  const short =
    (budget.tokens ?? Number.POSITIVE_INFINITY) < tokens
      ? `${grouped(budget.tokens ?? 0)} tokens: the smallest request may take ${grouped(tokens)}`
      : (budget.usd ?? Number.POSITIVE_INFINITY) * 1_000_000 < microUsd
        ? `US$ ${dollars(budget.usd ?? 0)}: the smallest request may cost ${dollars(microUsd / 1_000_000)}`
        : undefined;
  if (short === undefined) return;
  throw new UserError({
    message: `The budget does not allow a single request: ${short}`,
    remedy: 'Raise the budget, or lower max_tokens; nothing was started',
    exitCode: 2,
  });
}

/** Bounds of the requests that every strategy begins with: a program for each generator prompt in use. */
function firstBounds(spec: SweepSpec, problem: ReturnType<PreparedSweep['benchmark']['problem']>): Cost[] {
  const prompts = spec.strategy.kind === 'quality-flow' ? Math.min(spec.strategy.diversified, GENERATOR_PROMPTS) : 1;
  const { model, seed, prices } = spec;
  return Array.from({ length: prompts }, (_, prompt) =>
    boundOf(
      { settings: model, prompt: generatorPrompt({ problem, prompt, api: model.api }), seed, sample: 0, retry: 0 },
      prices,
    ),
  );
}

function range({ least, most }: { least: number; most: number }): string {
  return least === most ? grouped(least) : `${grouped(least)} to ${grouped(most)}`;
}

/** To the cent, and to three digits below one. */
export function dollars(value: number): string {
  return value >= 0.01 || value === 0 ? value.toFixed(2) : value.toPrecision(3);
}
