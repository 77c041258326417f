import type { Kysely, Selectable } from 'kysely';
import type { Outcome } from '../activities/contract.ts';
import type { SandboxFingerprint } from '../sandbox/sandbox.ts';
import type { Database } from './database.ts';
import { fromJson, keyText } from './encoding.ts';
import { isFinal, isOutcome } from './final-outcome.ts';
import type { Schema } from './schema.ts';
import type { OutcomeRow, Store } from './store.ts';
import { StoreError } from './store-error.ts';

/** Rows in memory at once while outcomes are streamed: a trail may hold some hundred KB. */
const PAGE_ROWS = 100;

export function outcomeTable(
  database: Database,
): Pick<Store, 'recordOutcome' | 'reopenOutcome' | 'getOutcome' | 'outcomes' | 'countOutcomes'> {
  return {
    async recordOutcome(row) {
      await requirePlanned(database, row.run);
      const { key, values } = toColumns(row);
      const written = await database.run((db) =>
        db
          .insertInto('outcomes')
          .values({ ...key, ...values })
          .onConflict((conflict) =>
            conflict
              .columns(['sweep', 'task_id', 'sample'])
              .doUpdateSet(values)
              .where('outcomes.final', '=', 0)
              .where('outcomes.attempt', '<=', row.run.attempt),
          )
          .returning('attempt')
          .executeTakeFirst(),
      );
      return written !== undefined;
    },

    async reopenOutcome({ sweep, taskId, sample, attempt }) {
      return database.transact(async (db) => {
        const row = await db
          .selectFrom('outcomes')
          .select(['outcome', 'attempt'])
          .where('sweep', '=', keyText(sweep))
          .where('task_id', '=', keyText(taskId))
          .where('sample', '=', sample)
          .where('attempt', '=', attempt)
          .where('final', '=', 1)
          .executeTakeFirst();
        if (row === undefined) return undefined;
        const outcome = readOutcome(row.outcome);
        await db
          .updateTable('outcomes')
          .set({
            // One more than the attempt that wrote it: a straggler's row is older, and changes nothing.
            attempt: row.attempt + 1,
            outcome: 'cancelled',
            final: 0,
            detail: JSON.stringify(`re-opened by hand; it was ${outcome}`),
            final_step: 'nothing',
            trail: '[]',
            submission: null,
            fingerprint: null,
            recorded_at: new Date().toISOString(),
          })
          .where('sweep', '=', keyText(sweep))
          .where('task_id', '=', keyText(taskId))
          .where('sample', '=', sample)
          .execute();
        return outcome;
      });
    },

    async getOutcome({ sweep, taskId, sample }) {
      const row = await database.run((db) =>
        db
          .selectFrom('outcomes')
          .selectAll()
          .where('sweep', '=', keyText(sweep))
          .where('task_id', '=', keyText(taskId))
          .where('sample', '=', sample)
          .executeTakeFirst(),
      );
      return row && toOutcome(row);
    },

    async *outcomes(sweep) {
      let after = { index: -1, sample: -1 };
      for (;;) {
        const page = await database.run((db) => outcomePage(db, keyText(sweep), after));
        for (const row of page) yield toOutcome(row);
        const last = page.at(-1);
        if (last === undefined || page.length < PAGE_ROWS) return;
        after = { index: last.task_index, sample: last.sample };
      }
    },

    async countOutcomes(sweep) {
      const rows = await database.run((db) =>
        db
          .selectFrom('outcomes')
          .select(['outcome', (e) => e.fn.countAll().as('rows')])
          .where('sweep', '=', keyText(sweep))
          .groupBy('outcome')
          .orderBy('outcome')
          .execute(),
      );
      return Object.fromEntries(rows.map((row) => [row.outcome, Number(row.rows)]));
    },
  };
}

/** In planned order, by task and then sample. */
function outcomePage(db: Kysely<Schema>, sweep: string, after: { index: number; sample: number }) {
  return db
    .selectFrom('sweep_tasks as task')
    .innerJoin('outcomes', (join) =>
      join.onRef('outcomes.sweep', '=', 'task.sweep').onRef('outcomes.task_id', '=', 'task.task_id'),
    )
    .selectAll('outcomes')
    .select('task.task_index')
    .where('task.sweep', '=', sweep)
    .where('task.task_index', '>=', after.index)
    .where((e) => e.or([e('task.task_index', '>', after.index), e('outcomes.sample', '>', after.sample)]))
    .orderBy('task.task_index')
    .orderBy('outcomes.sample')
    .limit(PAGE_ROWS)
    .execute();
}

/** A row outside the plan would make planned ≠ Σ outcomes, so it is a broken contract. */
async function requirePlanned(
  database: Database,
  run: { sweep: string; taskId: string; sample: number },
): Promise<void> {
  const plan = await database.run((db) =>
    db
      .selectFrom('sweep_tasks as task')
      .innerJoin('sweeps', 'sweeps.name', 'task.sweep')
      .select('sweeps.samples')
      .where('task.sweep', '=', keyText(run.sweep))
      .where('task.task_id', '=', keyText(run.taskId))
      .executeTakeFirst(),
  );
  if (plan !== undefined && Number.isInteger(run.sample) && run.sample >= 0 && run.sample < plan.samples) return;
  throw new StoreError({
    kind: 'invalid',
    message: `Sweep ${JSON.stringify(run.sweep)} does not plan sample ${run.sample} of task ${JSON.stringify(run.taskId)}.`,
    remedy: 'Create the sweep with this task and enough samples first.',
  });
}

function toColumns(row: OutcomeRow) {
  return {
    key: { sweep: keyText(row.run.sweep), task_id: keyText(row.run.taskId), sample: row.run.sample },
    values: {
      attempt: row.run.attempt,
      outcome: row.outcome,
      final: isFinal(row.outcome) ? 1 : 0,
      detail: JSON.stringify(row.detail),
      final_step: keyText(row.finalStep),
      tokens: row.tokens,
      requests: row.requests,
      trail: JSON.stringify(row.trail),
      submission: row.submission,
      fingerprint: row.fingerprint === null ? null : JSON.stringify(row.fingerprint),
      recorded_at: row.recordedAt,
    },
  };
}

function toOutcome(row: Selectable<Schema['outcomes']>): OutcomeRow {
  return {
    run: { sweep: row.sweep, taskId: row.task_id, sample: row.sample, attempt: row.attempt },
    outcome: readOutcome(row.outcome),
    detail: fromJson<string>(row.detail),
    finalStep: row.final_step,
    tokens: Number(row.tokens),
    requests: row.requests,
    trail: fromJson<OutcomeRow['trail']>(row.trail),
    submission: row.submission,
    fingerprint: row.fingerprint === null ? null : fromJson<SandboxFingerprint>(row.fingerprint),
    recordedAt: row.recorded_at,
  };
}

function readOutcome(text: string): Outcome {
  if (isOutcome(text)) return text;
  throw new StoreError({
    kind: 'corrupt',
    message: `A row of the database has the unknown outcome ${JSON.stringify(text)}.`,
    remedy: 'Use the version of qualityflow that wrote it.',
  });
}
