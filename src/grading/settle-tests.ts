import { createHash } from 'node:crypto';
import type { JudgeJob, Sandbox, SandboxLimits } from '../sandbox/sandbox.ts';
import { type Collected, collectCalls, collected as collectedShape, type TestSource } from './collect-calls.ts';
import type { ExpectedStore } from './expected-outputs.ts';
import { gradeInProcess } from './grade-in-process.ts';
import { graderSha256 } from './grader-sha256.ts';
import { KeptForSandbox } from './kept-for-sandbox.ts';
import { recordAndReplay } from './record-and-replay.ts';
import type { TestResult } from './verdict.ts';

const TRANSIENT: ReadonlySet<TestResult['status']> = new Set(['timeout', 'memory_limit', 'not_run']);
const kept = new KeptForSandbox<Collected>({ bytes: 64 << 20 });

/**
 * Settles, before any candidate is looked at, which tests are replayed and which run in a program's own process: a test that the
 * canonical solution fails by replay and passes in its process needs more than values. Without a canonical solution the test's text decides
 * alone. Where there is one it is kept, for each sandbox and in the store: candidates of a task come one by one.
 */
export async function settleTests(job: {
  sandbox: Sandbox;
  entryPoint: string;
  setup: string;
  source: TestSource;
  canonical?: string | undefined;
  trust: JudgeJob['trust'];
  limits: SandboxLimits;
  store?: ExpectedStore | undefined;
  signal?: AbortSignal | undefined;
}): Promise<Collected> {
  const { sandbox, entryPoint, setup, source, canonical, limits } = job;
  if (canonical === undefined || canonical.trim() === '') return collectCalls(job);
  const key = JSON.stringify([entryPoint, setup, source, canonical, job.trust, limits]);
  const known = kept.get(sandbox, key);
  if (known !== undefined) return known;
  const { store } = job;
  const stored = store === undefined ? undefined : readStored(await store.read(await lastingKey(sandbox, key)));
  if (stored !== undefined) return keep(stored);

  const collected = await collectCalls(job);
  const open = collected.tests.filter((test) => test.invalid === undefined && test.inherent === undefined);
  const common = { ...job, ...collected, programs: [canonical], stopAfter: undefined };
  const [replayed = []] = await recordAndReplay({ ...common, tests: open });
  const doubtful = open.filter((_, test) => replayed[test]?.status !== 'pass');
  const [beside = []] = await gradeInProcess({ ...common, tests: doubtful });
  const inherent = new Set(doubtful.filter((_, test) => beside[test]?.status === 'pass'));
  const tests = collected.tests.map((test) =>
    inherent.has(test) ? { ...test, calls: [], inherent: 'a right program fails it by its values alone' } : test,
  );
  const settled = { ...collected, tests };
  // A canonical solution that ran out of time or memory says something about this hour, not about the test.
  const lasting = [...replayed, ...beside].every((result) => result === undefined || !TRANSIENT.has(result.status));
  if (!lasting) return settled;
  if (store !== undefined) await store.write(await lastingKey(sandbox, key), JSON.stringify(settled));
  return keep(settled);

  function keep(found: Collected): Collected {
    kept.put(sandbox, key, found, key.length + JSON.stringify(found).length);
    return found;
  }
}

/** What the settling depends on beside the tests: Python, numpy, the runner and the grader. */
async function lastingKey(sandbox: Sandbox, key: string): Promise<string> {
  const { python, numpy, runnerSha256 } = await sandbox.fingerprint();
  const parts = ['settled', graderSha256(), python, numpy, runnerSha256, key];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

function readStored(text: string | undefined): Collected | undefined {
  if (text === undefined) return undefined;
  try {
    return collectedShape.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
