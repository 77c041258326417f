import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../../src/store/open-store.ts';
import { connectClient } from '../../src/temporal/connection.ts';
import { repeatedCalls } from './calls.ts';
import { orphanedContainers, processesWith, remaining } from './leftovers.ts';
import { type ChaosStrategy, FAULTS, LATENCY_MS, type MiniSweep } from './mini-sweep.ts';
import { type ModelProcess, startModelProcess } from './model-process.ts';
import { booksOf, resultOf, type SweepResult } from './result-of.ts';
import { type Command, type Rig, STOPPED, type Victim } from './rig.ts';

/** An undisturbed sweep, and how long it asked how much. */
export interface Reference {
  strategy: ChaosStrategy;
  result: SweepResult;
  /** From the first request to the last reply. */
  activeMs: number;
  completions: number;
}

/** What a round found wrong, a line each; all empty when everything held. */
export interface RoundFindings {
  lost: string[];
  doubled: string[];
  repeatedCalls: string[];
  differences: string[];
  leftovers: string[];
  kills: number;
  inFlightAtKills: number;
}

export async function referenceRun(rig: Rig, strategy: ChaosStrategy): Promise<Reference> {
  const name = `reference-${strategy}`;
  const model = await startModelProcess({ faults: FAULTS, latencyMs: LATENCY_MS });
  try {
    const { code, stderr } = await rig.run({ name, endpoint: model.url, strategy }).finished;
    if (code !== 0) throw new Error(`the undisturbed sweep ended with ${code}: ${stderr}`);
    const arrivals = await model.arrivals();
    const wrong = repeatedCalls(arrivals, booksOf({ home: rig.home, sweep: name, endpoint: model.url }));
    if (wrong.length > 0) throw new Error(`the undisturbed sweep made calls too often:\n${wrong.join('\n')}`);
    const bodies = Object.values(arrivals.bodies);
    const completed = bodies.flatMap((body) => body.completed);
    return {
      strategy,
      result: await resultOf({ home: rig.home, sweep: name }),
      activeMs: Math.max(...completed) - Math.min(...bodies.flatMap((body) => body.arrivals)),
      completions: completed.length,
    };
  } finally {
    await model.stop();
  }
}

/** Starts a sweep, kills or stops one victim, sees it through to its end, and looks at everything. */
export async function playRound({
  rig,
  name,
  victim,
  random,
  reference,
  note,
}: {
  rig: Rig;
  name: string;
  victim: Victim;
  random: () => number;
  reference: Reference;
  note: (line: string) => void;
}): Promise<RoundFindings> {
  const model = await startModelProcess({ faults: FAULTS, latencyMs: LATENCY_MS });
  let second: Awaited<ReturnType<Rig['secondWorker']>> | undefined;
  try {
    if (victim === 'one-of-two-workers') second = await rig.secondWorker();
    let kills = 0;
    let inFlightAtKills = 0;
    let hadBegun = false;
    const killDuring = async (command: Command) => {
      const said = await momentOf({
        model,
        random,
        reference,
        command,
        inFlight: STOPPED.some((name) => name === victim),
      });
      if (said === undefined) return false;
      rig.processes();
      const { open, total } = await model.sums();
      hadBegun = total > 0;
      if (!(await rig.kill(victim, { command, model }))) return false;
      kills += 1;
      inFlightAtKills += open;
      note(`  ${victim} went down ${said}, ${open} requests in flight`);
      return true;
    };

    const sweep = { name, endpoint: model.url, strategy: reference.strategy };
    const commands = [rig.run(sweep)];
    const next = async () => {
      const command = await goOn(rig, sweep);
      commands.push(command);
      return command;
    };
    const [first] = commands;
    const killed = first !== undefined && (await killDuring(first));
    // Whoever killed the command or the supervisor has to go on with `sweep resume`; the others mend themselves.
    const mendsItself = victim !== 'cli' && victim !== 'supervisor';
    if (killed && !mendsItself) {
      const resumed = await next();
      if (random() < 0.5 && (await killDuring(resumed))) await next();
    }
    await seeThrough({ commands, next, noted: () => exists(rig, name) });
    await Promise.all(commands.map(stopped));

    rig.processes();
    const arrivals = await model.arrivals();
    const books = booksOf({ home: rig.home, sweep: name, endpoint: model.url });
    const result = await resultOf({ home: rig.home, sweep: name });
    return {
      lost: Object.keys(reference.result.outcomes).filter((task) => result.outcomes[task] === undefined),
      doubled: await doneTwice(rig, name),
      repeatedCalls: repeatedCalls(arrivals, books),
      differences: [
        ...differences(reference.result, result),
        ...(mendsItself && hadBegun && commands.length > 1
          ? [`${commands.length - 1} × sweep resume was needed: ${lastWords(await commands[0]?.finished)}`]
          : []),
        ...(books.open === 0 ? [] : [`${books.open} reservations were never closed`]),
      ],
      leftovers: [
        ...(await remaining(() => orphanedContainers(rig.seen))),
        ...(await remaining(() => servedTwice(rig))),
      ],
      kills,
      inFlightAtKills,
    };
  } finally {
    await second?.stop();
    await model.stop();
  }
}

/**
 * Waits for a seeded moment within the sweep: early, while it is being set up; at some time while it asks; or right after some completion was
 * sent, when its reply is being stored and its activity completed. Undefined when the command ended first.
 */
async function momentOf(input: {
  model: ModelProcess;
  random: () => number;
  reference: Reference;
  command: Command;
  /** At a moment when requests are under way: what is stopped is to miss their replies. */
  inFlight: boolean;
}): Promise<string | undefined> {
  const said = await seededMoment(input);
  if (said === undefined || !input.inFlight) return said;
  while (input.command.child.exitCode === null) {
    if ((await input.model.sums()).open > 0) return said;
    await sleep(2);
  }
  return undefined;
}

async function seededMoment({
  model,
  random,
  reference,
  command,
  inFlight,
}: Parameters<typeof momentOf>[0]): Promise<string | undefined> {
  let ended = false;
  void command.finished.then(() => {
    ended = true;
  });
  const kind = inFlight ? 0.1 + 0.9 * random() : random();
  // Later, there may be nothing left to ask.
  const part = inFlight ? 0.6 * random() : random();
  const laterMs = random() * 30;
  const until = async (reached: () => Promise<boolean> | boolean) => {
    while (!ended && !(await reached())) await sleep(10);
    return !ended;
  };
  if (kind < 0.1) {
    const atMs = Date.now() + part * 3000;
    return (await until(() => Date.now() >= atMs)) ? `${Math.round(part * 3000)} ms after its start` : undefined;
  }
  if (kind < 0.5) {
    if (!(await until(async () => (await model.sums()).total > 0))) return undefined;
    const afterMs = part * reference.activeMs;
    const atMs = Date.now() + afterMs;
    return (await until(() => Date.now() >= atMs)) ? `${Math.round(afterMs)} ms after the first request` : undefined;
  }
  const { completed: before } = await model.sums();
  const wanted = before + 1 + Math.floor(part * Math.max(1, reference.completions - before));
  if (!(await until(async () => (await model.sums()).completed >= wanted))) return undefined;
  await sleep(laterMs);
  return `${Math.round(laterMs)} ms after completion ${wanted}`;
}

/** `sweep resume`; a sweep whose command died before it was noted down is run again. */
async function goOn(rig: Rig, sweep: MiniSweep): Promise<Command> {
  return (await exists(rig, sweep.name)) ? rig.resume(sweep.name) : rig.run(sweep);
}

/** Waits for the latest command, and goes on as a person would until nothing is left; throws when that does not end. */
async function seeThrough({
  commands,
  next,
  noted,
}: {
  commands: readonly Command[];
  next: () => Promise<Command>;
  noted: () => Promise<boolean>;
}): Promise<void> {
  let last = await commands.at(-1)?.finished;
  for (let attempt = 0; attempt < 5; attempt += 1) {
    if (last?.code === 0 && (await noted())) return;
    last = await (await next()).finished;
  }
  throw new Error(`the sweep does not end: ${last?.code} ${last?.stderr.slice(-2000)}`);
}

function lastWords(end: { code: number; stderr: string } | undefined): string {
  return `status ${end?.code}, ${end?.stderr.trim().split('\n').slice(-3).join(' | ')}`;
}

/** A command whose supervisor was killed follows a server that may never come back at its old address: such a one is ended. */
async function stopped({ child, finished }: Command): Promise<void> {
  const timer = setTimeout(() => child.kill('SIGKILL'), 1000);
  await finished;
  clearTimeout(timer);
}

async function exists(rig: Rig, name: string): Promise<boolean> {
  const store = await openStore({ home: rig.home });
  try {
    return (await store.getPlan(name)) !== undefined;
  } finally {
    await store.close();
  }
}

/** Problems that Temporal saw through to their end more than once. */
async function doneTwice(rig: Rig, sweep: string): Promise<string[]> {
  const { address, namespace } = await rig.server();
  const { client, connection } = await connectClient({ connectionOptions: { address }, namespace });
  try {
    const ended = new Map<string, number>();
    const query = `SweepId="${sweep}" AND WorkflowType="solveProblem" AND ExecutionStatus="Completed"`;
    for await (const { workflowId } of client.workflow.list({ query }))
      ended.set(workflowId, (ended.get(workflowId) ?? 0) + 1);
    return [...ended].filter(([, count]) => count > 1).map(([id, count]) => `${id} was completed ${count} times`);
  } finally {
    await connection.close();
  }
}

/** More than one of what there must be one of. */
function servedTwice(rig: Rig): string[] {
  // Node's first argument is its script, Temporal's are its commands; the supervisor's later ones name the worker's script too.
  const running = processesWith(rig.home).map(({ args }) => args.slice(0, 3).join(' '));
  return ['supervisor-main', 'worker-main', 'start-dev'].flatMap((part) => {
    const count = running.filter((command) => command.includes(part)).length;
    return count > 1 ? [`${count} processes of ${part}`] : [];
  });
}

export function differences(expected: SweepResult, actual: SweepResult): string[] {
  const outcomes = Object.entries(expected.outcomes)
    .filter(([task, outcome]) => actual.outcomes[task] !== undefined && actual.outcomes[task] !== outcome)
    .map(([task, outcome]) => `${task}: ${actual.outcomes[task]} instead of ${outcome}`);
  const rest = (['planned', 'passAt1', 'tokens'] as const).flatMap((part) => {
    const [before, after] = [JSON.stringify(expected[part]), JSON.stringify(actual[part])];
    return before === after ? [] : [`${part}: ${after} instead of ${before}`];
  });
  return [...outcomes, ...rest];
}
