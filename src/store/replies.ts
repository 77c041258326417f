import type { ModelReply, ModelRequest, ReplyStore } from '../models/model.ts';
import type { Database } from './database.ts';
import { fromJson, keyText } from './encoding.ts';
import { closeReservation, markOpen } from './ledger.ts';
import { senderOf } from './steps.ts';
import type { Store } from './store.ts';

/** Bound values of one statement, far below what SQLite and Postgres take. */
const KEYS_A_READ = 1000;

/** Content-addressed replies with the requests that they answer. Texts are stored inline and come back exactly. */
export function replyTable(database: Database): ReplyStore & Pick<Store, 'getExchange' | 'countReplies'> {
  async function getExchange(key: string): Promise<{ request: ModelRequest; reply: ModelReply } | undefined> {
    const row = await database.run((db) =>
      db.selectFrom('replies').select(['request', 'reply']).where('reply_key', '=', keyText(key)).executeTakeFirst(),
    );
    return row && { request: fromJson<ModelRequest>(row.request), reply: fromJson<ModelReply>(row.reply) };
  }

  return {
    getExchange,

    async countReplies(keys) {
      let found = 0;
      for (let at = 0; at < keys.length; at += KEYS_A_READ) {
        const asked = keys.slice(at, at + KEYS_A_READ).map(keyText);
        const row = await database.run((db) =>
          db
            .selectFrom('replies')
            .select((e) => e.fn.countAll().as('rows'))
            .where('reply_key', 'in', asked)
            .executeTakeFirst(),
        );
        found += Number(row?.rows ?? 0);
      }
      return found;
    },

    async getReply(key) {
      const row = await database.run((db) =>
        db.selectFrom('replies').select('reply').where('reply_key', '=', keyText(key)).executeTakeFirst(),
      );
      return row && fromJson<ModelReply>(row.reply);
    },

    async putReply(key, request, reply, settles) {
      const reply_key = keyText(key);
      const row = {
        reply_key,
        request: JSON.stringify(request),
        reply: JSON.stringify(reply),
        prompt_tokens: reply.usage?.prompt ?? null,
        completion_tokens: reply.usage?.completion ?? null,
        created_at: new Date().toISOString(),
      };
      await database.transact(async (db) => {
        const account =
          settles &&
          (await db
            .selectFrom('reservations')
            .select(['sweep', 'task_id', 'sample', 'step'])
            .where('id', '=', settles.reservation)
            .executeTakeFirst());
        await db
          .insertInto('replies')
          .values({ ...row, sender: account === undefined ? null : senderOf(account) })
          .onConflict((conflict) => conflict.column('reply_key').doNothing())
          .execute();
        if (settles !== undefined) {
          await closeReservation(db, { id: settles.reservation, state: 'settled', cost: settles.cost });
          // From now on nobody asks this again, and so nobody would find out about an attempt that died with its request under way. One
          // that is alive in another process settles its own when its reply comes.
          await markOpen(db, { request_key: reply_key });
        }
      });
    },
  };
}
