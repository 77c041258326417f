import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ModelRequest } from '../../src/models/model.ts';
import { requestBody } from '../../src/models/request-key.ts';
import { buildReport } from '../../src/reports/report.ts';
import { openStore } from '../../src/store/open-store.ts';

/** What must not depend on who was killed when. */
export interface SweepResult {
  planned: number;
  /** By task: `pass (debug1) 5d41402a`, the last part from the text of the program that was submitted. */
  outcomes: Record<string, string>;
  passAt1: string;
  /** Of the distinct stored replies. */
  tokens: { prompt: number; completion: number };
}

export async function resultOf({ home, sweep }: { home: string; sweep: string }): Promise<SweepResult> {
  const store = await openStore({ home });
  try {
    const report = await buildReport({ store, sweep });
    const outcomes: Record<string, string> = {};
    for await (const row of store.outcomes(sweep)) {
      const code = row.submission === null ? '' : (row.trail[row.submission]?.code ?? '');
      const program = createHash('sha256').update(code).digest('hex').slice(0, 8);
      outcomes[row.run.taskId] = `${row.outcome} (${row.finalStep}) ${program}`;
    }
    const { prompt, completion } = await store.usage({ sweep });
    return {
      planned: report.planned,
      outcomes,
      passAt1: JSON.stringify(report.passAt['1']),
      tokens: { prompt, completion },
    };
  } finally {
    await store.close();
  }
}

export interface Books {
  /** By sha256 of the request's body: its keys (samples and retries may put one question twice), and when the last reply was stored. */
  replies: Map<string, { keys: string[]; storedAtMs: number }>;
  /** By request key. */
  possiblyCharged: Map<string, number>;
  /** By request key: one for a reply that this sweep asked for, more where a second one came for it and was paid, too. */
  settled: Map<string, number>;
  /** Reservations that nobody has closed. */
  open: number;
}

/** The store's rows behind its public face: the times and single reservations that only these checks want. */
export function booksOf({ home, sweep, endpoint }: { home: string; sweep: string; endpoint: string }): Books {
  const database = new DatabaseSync(join(home, 'qualityflow.db'), { readOnly: true });
  try {
    const replies: Books['replies'] = new Map();
    for (const row of database.prepare('select reply_key, request, created_at from replies').iterate()) {
      const request: ModelRequest = JSON.parse(String(row.request));
      if (request.settings.endpoint !== endpoint) continue;
      const body = createHash('sha256')
        .update(JSON.stringify(requestBody(request)))
        .digest('hex');
      const known = replies.get(body) ?? { keys: [], storedAtMs: 0 };
      known.keys.push(String(row.reply_key));
      known.storedAtMs = Math.max(known.storedAtMs, Date.parse(String(row.created_at)));
      replies.set(body, known);
    }
    const counts = database
      .prepare('select request_key, state, count(*) as n from reservations where sweep = ? group by request_key, state')
      .all(sweep)
      .map((row) => ({ key: String(row.request_key), state: String(row.state), n: Number(row.n) }));
    const inState = (wanted: string) =>
      new Map(counts.filter(({ state }) => state === wanted).map(({ key, n }) => [key, n]));
    return {
      replies,
      possiblyCharged: inState('possibly_charged'),
      settled: inState('settled'),
      open: counts.filter(({ state }) => state === 'open').reduce((sum, { n }) => sum + n, 0),
    };
  } finally {
    database.close();
  }
}
