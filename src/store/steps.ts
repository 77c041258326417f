import type { Kysely, Selectable } from 'kysely';
import type { Database } from './database.ts';
import { fromJson, keyText } from './encoding.ts';
import type { Schema } from './schema.ts';
import type { PaidReplies, StepRow, Store } from './store.ts';

/**
 * What each activity did. A replay of the same step of the same attempt replaces its row; a step that sent several requests keeps one
 * row a reply.
 */
export function stepTable(database: Database): Pick<Store, 'recordStep' | 'missingSteps' | 'steps' | 'usage'> {
  return {
    async recordStep(row) {
      const { key, values } = toColumns(row);
      const sender = senderOf(key);
      await database.transact(async (db) => {
        // An activity killed between storing its reply and recording its step finds the reply in the store when it runs again, and would
        // seem to have sent nothing: the reply names its sender. One without a name (no ledger) belongs to whoever is recorded first.
        const reply =
          key.reply_key === ''
            ? undefined
            : await db
                .updateTable('replies')
                .set((e) => ({ sender: e.fn.coalesce('sender', e.val(sender)) }))
                .where('reply_key', '=', key.reply_key)
                .returning('sender')
                .executeTakeFirst();
        const reused = reply?.sender === sender && !(await sentBefore(db, key)) ? 0 : values.reused;
        await db
          .insertInto('steps')
          .values({ ...key, ...values, reused })
          .onConflict((conflict) =>
            conflict.columns(['sweep', 'task_id', 'sample', 'attempt', 'step', 'reply_key']).doUpdateSet((e) => ({
              ...values,
              // What was sent once stays sent when a replay finds the reply in the store.
              reused: e.case().when('steps.reused', '=', 0).then(0).else(reused).end(),
            })),
          )
          .execute();
      });
    },

    async missingSteps({ sweep, taskId, sample, attempt }, steps) {
      const rows = await database.run((db) =>
        db
          .selectFrom('steps')
          .select('step')
          .distinct()
          .where('sweep', '=', keyText(sweep))
          .where('task_id', '=', keyText(taskId))
          .where('sample', '=', sample)
          .where('attempt', '=', attempt)
          .execute(),
      );
      const there = new Set(rows.map(({ step }) => step));
      return steps.filter((step) => !there.has(keyText(step)));
    },

    async steps({ sweep, taskId, sample }) {
      const rows = await database.run((db) =>
        db
          .selectFrom('steps')
          .selectAll()
          .where('sweep', '=', keyText(sweep))
          .where('task_id', '=', keyText(taskId))
          .where('sample', '=', sample)
          .orderBy('attempt')
          .orderBy('started_at')
          .orderBy('step')
          .orderBy('reply_key')
          .execute(),
      );
      return rows.map(toStep);
    },

    async usage({ sweep, taskId, sample }) {
      return database.run(async (db) => {
        let mine = db.selectFrom('steps').where('steps.sweep', '=', keyText(sweep)).where('steps.reply_key', '!=', '');
        if (taskId !== undefined) mine = mine.where('steps.task_id', '=', keyText(taskId));
        if (sample !== undefined) mine = mine.where('steps.sample', '=', sample);
        const requests = await mine
          .select(['reused', (e) => e.fn.countAll().as('rows')])
          .groupBy('reused')
          .execute();
        const replies = await db
          .selectFrom(
            mine
              .select(['reply_key', 'activity', (e) => e.fn.min('reused').as('reused')])
              .groupBy(['reply_key', 'activity'])
              .as('used'),
          )
          .innerJoin('replies', 'replies.reply_key', 'used.reply_key')
          .select([
            'used.activity',
            'used.reused',
            (e) => e.fn.countAll().as('requests'),
            (e) => e.fn.count('replies.prompt_tokens').as('metered'),
            (e) => e.fn.coalesce(e.fn.sum('replies.prompt_tokens'), e.val(0)).as('prompt'),
            (e) => e.fn.coalesce(e.fn.sum('replies.completion_tokens'), e.val(0)).as('completion'),
          ])
          .groupBy(['used.activity', 'used.reused'])
          .orderBy('used.activity')
          .execute();
        const usage: Awaited<ReturnType<Store['usage']>> = {
          sent: Number(requests.find((row) => row.reused === 0)?.rows ?? 0),
          reused: Number(requests.find((row) => row.reused === 1)?.rows ?? 0),
          prompt: 0,
          completion: 0,
          unmetered: 0,
          paid: nothingPaid(),
          byActivity: {},
        };
        for (const row of replies) {
          const [replies, prompt, completion] = [Number(row.requests), Number(row.prompt), Number(row.completion)];
          usage.prompt += prompt;
          usage.completion += completion;
          usage.unmetered += replies - Number(row.metered);
          const of = (usage.byActivity[row.activity] ??= {
            requests: 0,
            prompt: 0,
            completion: 0,
            paid: nothingPaid(),
          });
          of.requests += replies;
          of.prompt += prompt;
          of.completion += completion;
          if (row.reused !== 0) continue;
          for (const paid of [usage.paid, of.paid]) {
            paid.replies += replies;
            paid.prompt += prompt;
            paid.completion += completion;
          }
        }
        return usage;
      });
    },
  };
}

function nothingPaid(): PaidReplies {
  return { replies: 0, prompt: 0, completion: 0 };
}

/** Whether an earlier attempt of the same run has sent this request: a later one replays it. */
async function sentBefore(db: Kysely<Schema>, key: ReturnType<typeof toColumns>['key']): Promise<boolean> {
  const { sweep, task_id, sample, step, reply_key } = key;
  const row = await db
    .selectFrom('steps')
    .select('attempt')
    .where((e) => e.and({ sweep, task_id, sample, step, reply_key, reused: 0 }))
    .where('attempt', '<', key.attempt)
    .executeTakeFirst();
  return row !== undefined;
}

/** Names the step that sent a request, whatever the attempt of its run; the first field is the sweep (migrations read it). */
export function senderOf(step: { sweep: string; task_id: string; sample: number; step: string }): string {
  return JSON.stringify([step.sweep, step.task_id, step.sample, step.step]);
}

function toColumns(row: StepRow) {
  return {
    key: {
      sweep: keyText(row.run.sweep),
      task_id: keyText(row.run.taskId),
      sample: row.run.sample,
      attempt: row.run.attempt,
      step: keyText(row.step),
      reply_key: keyText(row.replyKey ?? ''),
    },
    values: {
      activity: keyText(row.activity),
      reused: row.reused ? 1 : 0,
      result: JSON.stringify(row.result),
      started_at: row.startedAt,
      duration_ms: Math.round(row.durationMs),
    },
  };
}

function toStep(row: Selectable<Schema['steps']>): StepRow {
  return {
    run: { sweep: row.sweep, taskId: row.task_id, sample: row.sample, attempt: row.attempt },
    step: row.step,
    activity: row.activity,
    replyKey: row.reply_key === '' ? undefined : row.reply_key,
    reused: row.reused === 1,
    result: fromJson<string>(row.result),
    startedAt: row.started_at,
    durationMs: row.duration_ms,
  };
}
