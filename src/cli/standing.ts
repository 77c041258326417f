import { stateWithReason } from '../reports/render-lists.ts';
import { counted } from '../reports/terminal.ts';
import { terminalLine } from '../reports/terminal-safe.ts';
import type { Store, SweepPlan } from '../store/store.ts';
import type { Health } from './problem-health.ts';
import { duration, grouped } from './progress.ts';

/** What stands in a sweep's way at the moment, and what it has spent of its budget: one line each, the most important first. */
export function standing(input: {
  plan: Pick<SweepPlan, 'name' | 'state' | 'stateReason'>;
  health: Health | undefined;
  spent: Awaited<ReturnType<Store['spent']>> | undefined;
}): string[] {
  const { plan, health, spent } = input;
  const lines: string[] = [];
  if (plan.state === 'paused') lines.push(`paused by a person: \`qualityflow sweep unpause ${plan.name}\` goes on`);
  if (plan.state === 'blocked') lines.push(terminalLine(`blocked: ${plan.stateReason}`));
  if ((plan.state === 'cancelled' || plan.state === 'failed') && plan.stateReason !== '')
    lines.push(terminalLine(stateWithReason(plan)));
  if (health?.paced !== undefined) {
    const { problems, untilMs } = health.paced;
    lines.push(`${counted(problems, 'problem')} paced until ${clock(untilMs)} by Retry-After`);
  }
  if (health?.retrying !== undefined) {
    const { problems, reason, attempt, nextInMs } = health.retrying;
    const next = nextInMs === null ? 'under way' : `next try in ${duration(nextInMs)}`;
    lines.push(
      terminalLine(
        `${counted(problems, 'problem')} ${problems === 1 ? 'retries' : 'retry'}: ${reason} (attempt ${attempt}, ${next})`,
      ),
    );
  }
  if (health !== undefined && health.awaitBudget > 0)
    lines.push(`${counted(health.awaitBudget, 'problem')} waiting for budget that requests under way hold`);
  if (health?.late !== undefined) {
    const { problems, quietMs } = health.late;
    lines.push(`${counted(problems, 'problem')} late: last heartbeat ${duration(quietMs)} ago`);
  }
  if (spent !== undefined) lines.push(...budgetLine(spent));
  return lines;
}

/** Empty for a sweep without a cap. What may have been charged counts as used; what requests under way hold is told beside it. */
function budgetLine({ settled, open, possiblyCharged, cap }: Awaited<ReturnType<Store['spent']>>): string[] {
  const part = (unit: 'tokens' | 'microUsd', text: (value: number) => string, most: string) =>
    `used ${text(settled[unit] + possiblyCharged[unit])}${open[unit] === 0 ? '' : `, reserved ${text(open[unit])}`} of ${most}`;
  const parts = [
    ...(cap.tokens === null ? [] : [part('tokens', grouped, `${grouped(cap.tokens)} tokens`)]),
    ...(cap.microUsd === null ? [] : [part('microUsd', usd, `US$ ${usd(cap.microUsd)}`)]),
  ];
  if (parts.length === 0) return [];
  const doubtful =
    possiblyCharged.requests === 0 ? '' : `, ${counted(possiblyCharged.requests, 'request')} possibly charged`;
  return [`budget: ${parts.join('; ')}${doubtful}`];
}

function usd(microUsd: number): string {
  return (microUsd / 1_000_000).toFixed(2);
}

/** Local time of day; with the date when it is another day. */
function clock(ms: number): string {
  const at = new Date(ms);
  const two = (value: number) => String(value).padStart(2, '0');
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');
  const today = at.toDateString() === new Date().toDateString();
  return today ? time : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}
