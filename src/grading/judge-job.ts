import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import type { JudgeJob, Sandbox } from '../sandbox/sandbox.ts';

type JudgeScript = 'replay' | 'evalplus' | 'predict';

/** Files of `judge/` that make one script. */
const FILES: Record<JudgeScript, string[]> = {
  replay: ['stand_in', 'rewrite_test', 'replay'],
  evalplus: ['evalplus'],
  predict: ['predict'],
};

const sources = new Map<JudgeScript, string>();

/** Text of a script; it defines `main(input: str) -> str`. */
function judgeSource(script: JudgeScript): string {
  const known = sources.get(script);
  if (known !== undefined) return known;
  const text = FILES[script]
    .map((file) => readFileSync(new URL(`./judge/${file}.py`, import.meta.url), 'utf8'))
    .join('\n\n');
  sources.set(script, text);
  return text;
}

type JudgeReply<T> =
  | { kind: 'reply'; reply: T }
  | { kind: 'failed'; reason: 'timeout' | 'memory_limit' | 'crash' | 'exception'; detail: string };

/**
 * One judge job: JSON in, validated JSON out. A judge that met model-written tests may answer anything, so an answer of another
 * shape is a failure of the job (`crash`), never an exception.
 */
export async function askJudge<T>(job: {
  sandbox: Sandbox;
  script: JudgeScript;
  input: unknown;
  reply: z.ZodType<T>;
  trust: JudgeJob['trust'];
  seconds: number;
  signal?: AbortSignal | undefined;
}): Promise<JudgeReply<T>> {
  const result = await job.sandbox.runJudge({
    source: judgeSource(job.script),
    input: JSON.stringify(job.input),
    trust: job.trust,
    seconds: job.seconds,
    signal: job.signal,
  });
  if (result.kind === 'failed') return result;
  let parsed: unknown;
  try {
    parsed = JSON.parse(result.output);
  } catch {
    return { kind: 'failed', reason: 'crash', detail: 'the judge answered no JSON' };
  }
  const checked = job.reply.safeParse(parsed);
  if (!checked.success) return { kind: 'failed', reason: 'crash', detail: 'the judge answered another shape' };
  return { kind: 'reply', reply: checked.data };
}
