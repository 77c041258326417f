import { counted } from '../reports/terminal.ts';
import { terminalLine } from '../reports/terminal-safe.ts';
import type { RequestPlan } from '../spec/plan.ts';
import { budgetText, dollars } from './budget-forecast.ts';
import type { PreparedSweep } from './prepare-sweep.ts';
import { grouped } from './progress.ts';

/** What `--dry-run` says. */
export function planText({ spec, tasks, endpoint }: PreparedSweep, plan: RequestPlan): string {
  const { requests, tokens, usd } = plan;
  const budget = budgetText(spec, plan);
  const withoutVisible =
    plan.withoutVisibleTests > 0 ? `, ${plan.withoutVisibleTests} of them without a visible test` : '';
  const rows: [string, string][] = [
    ['sweep', spec.name],
    ['benchmark', `${spec.benchmark}: ${counted(plan.problems, 'problem')}${withoutVisible}`],
    ['runs', `${grouped(plan.problems * plan.samples)} (${grouped(plan.samples)} a problem)`],
    ['strategy', strategyText(spec.strategy)],
    ['model', `${spec.model.name} at ${endpoint.scripted ? 'the scripted offline model' : endpoint.identity}`],
    [
      'requests',
      `least ${grouped(requests.least)}, ${grouped(requests.acceptedAtOnce)} if every ${spec.strategy.kind === 'select' ? 'reply is usable' : 'first program is accepted'}, most ${grouped(requests.most)}`,
    ],
    ['', mostText(spec.strategy)],
    ['tokens', `about ${grouped(tokens.least)} at least, ${grouped(tokens.most)} at most`],
    ...(usd === null
      ? []
      : [
          ['money', `about US$ ${dollars(usd.least)} at least, ${dollars(usd.most)} at most`] satisfies [
            string,
            string,
          ],
        ]),
    ...(budget === undefined ? [] : [['budget', budget] satisfies [string, string]]),
    ['first tasks', `${tasks.slice(0, 5).join(', ')}${tasks.length > 5 ? ', …' : ''}`],
  ];
  return [
    ...rows.map(([label, value]) => `${label.padEnd(12)}${terminalLine(value)}`),
    '',
    'Nothing was sent; whether the model is there was not asked.',
  ].join('\n');
}

function mostText({ kind }: PreparedSweep['spec']['strategy']): string {
  const twice = 'every request has to be asked again because its reply cannot be used';
  return `(most: ${kind !== 'quality-flow' ? twice : `no program is accepted before the end, and ${twice}`})`;
}

function strategyText(strategy: PreparedSweep['spec']['strategy']): string {
  const { kind, ...options } = strategy;
  const told = Object.entries(options).map(
    ([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
  );
  return told.length === 0 ? kind : `${kind} (${told.join(', ')})`;
}
