import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ArrivalSums, Arrivals } from '../../src/models/scripted/arrival-log.ts';
import type { FaultPlanInput } from '../../src/models/scripted/faults.ts';
import { onInterrupt } from '../support/on-interrupt.ts';

const script = join(import.meta.dirname, '../../src/models/scripted/main.ts');

export interface ModelProcess {
  url: string;
  pid: number;
  arrivals(): Promise<Arrivals>;
  /** The same in three numbers, to be asked often. */
  sums(): Promise<ArrivalSums>;
  /** Replaces the fault plan. */
  play(faults: FaultPlanInput): Promise<void>;
  stop(): Promise<void>;
}

/** A scripted model that is nobody's child but ours, so that no kill of the product's processes reaches it. `main`: a script with other answers. */
export async function startModelProcess({
  faults,
  latencyMs,
  main = script,
}: {
  faults?: FaultPlanInput;
  latencyMs: number;
  main?: string;
}): Promise<ModelProcess> {
  const plan = faults === undefined ? [] : ['--faults', JSON.stringify(faults)];
  const args = [main, '--latency-ms', String(latencyMs), ...plan];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const forget = onInterrupt(() => void child.kill('SIGKILL'));
  const [line] = await once(child.stdout, 'data');
  const url = String(line).trim();
  const { pid } = child;
  if (pid === undefined) throw new Error('the scripted model did not start');
  return {
    url,
    pid,
    // A server of this very version says it: its shapes are ours.
    arrivals: async () => JSON.parse(await textOf(url, '/arrivals')),
    sums: async () => JSON.parse(await textOf(url, '/arrivals/sums')),
    async play(plan) {
      const answer = await fetch(url.replace('/v1', '/faults'), { method: 'POST', body: JSON.stringify(plan) });
      if (!answer.ok) throw new Error(await answer.text());
    },
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      forget();
    },
  };
}

async function textOf(url: string, path: string): Promise<string> {
  return (await fetch(url.replace('/v1', path))).text();
}
