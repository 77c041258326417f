import { randomUUID } from 'node:crypto';
import { type Kysely, type SqlBool, sql } from 'kysely';
import type { Cost, Ledger } from '../models/model.ts';
import type { SweepSpec } from '../spec/spec.ts';
import type { Database } from './database.ts';
import { keyText } from './encoding.ts';
import type { Schema } from './schema.ts';
import { noSuchSweep } from './store-error.ts';

type State = Schema['reservations']['state'];

/**
 * The budget of each sweep, hard across processes: its counters are one row, and one conditional UPDATE decides about a reservation.
 * `possibly_charged` is what is assumed until the truth comes: the one who holds the reservation may still settle or release it.
 */
export function ledgerTable(database: Database): Ledger {
  const close = (id: string, state: State) => database.transact((db) => closeReservation(db, { id, state }));

  return {
    async reserve({ account, requestKey, bound }) {
      const sweep = keyText(account.sweep);
      const request_key = keyText(requestKey);
      const id = randomUUID();
      const now = new Date().toISOString();
      return database.transact(async (db) => {
        // One process sends a request once at a time: what is still open for it was left behind by an attempt that died, of this step or
        // of another one with the same question.
        await markOpen(db, { sweep, request_key });
        const granted = await db
          .updateTable('ledgers')
          .set((e) => ({
            open_tokens: e('open_tokens', '+', bound.tokens),
            open_micro_usd: e('open_micro_usd', '+', bound.microUsd),
          }))
          .where('sweep', '=', sweep)
          .where(
            sql<SqlBool>`(cap_tokens is null or settled_tokens + open_tokens + charged_tokens + ${bound.tokens} <= cap_tokens)`,
          )
          .where(
            sql<SqlBool>`(cap_micro_usd is null or settled_micro_usd + open_micro_usd + charged_micro_usd + ${bound.microUsd} <= cap_micro_usd)`,
          )
          .returning('sweep')
          .executeTakeFirst();
        if (granted === undefined) return { kind: await whyRefused(db, sweep, bound) };
        await db
          .insertInto('reservations')
          .values({
            id,
            sweep,
            task_id: keyText(account.taskId),
            sample: account.sample,
            step: keyText(account.step),
            attempt: keyText(account.attempt),
            request_key,
            state: 'open',
            bound_tokens: bound.tokens,
            bound_micro_usd: bound.microUsd,
            settled_tokens: null,
            settled_micro_usd: null,
            created_at: now,
            updated_at: now,
          })
          .execute();
        return { kind: 'reserved', reservation: id };
      });
    },

    release: (reservation) => close(reservation, 'released'),
    markPossiblyCharged: (reservation) => close(reservation, 'possibly_charged'),

    async spent(sweep) {
      const row = await database.run((db) =>
        db.selectFrom('ledgers').selectAll().where('sweep', '=', keyText(sweep)).executeTakeFirst(),
      );
      if (row === undefined) throw noSuchSweep(sweep);
      return {
        settled: { tokens: row.settled_tokens, microUsd: row.settled_micro_usd },
        open: { tokens: row.open_tokens, microUsd: row.open_micro_usd },
        possiblyCharged: {
          tokens: row.charged_tokens,
          microUsd: row.charged_micro_usd,
          requests: row.charged_requests,
        },
        cap: { tokens: row.cap_tokens, microUsd: row.cap_micro_usd },
      };
    },
  };
}

export const NOTHING_USED = {
  settled_tokens: 0,
  settled_micro_usd: 0,
  open_tokens: 0,
  open_micro_usd: 0,
  charged_tokens: 0,
  charged_micro_usd: 0,
  charged_requests: 0,
};

export function capsOf({ budget }: SweepSpec): Pick<Schema['ledgers'], 'cap_tokens' | 'cap_micro_usd'> {
  return {
    cap_tokens: budget.tokens ?? null,
    cap_micro_usd: budget.usd === undefined ? null : Math.round(budget.usd * 1_000_000),
  };
}

/**
 * Moves a reservation to its next state, and the sweep's counters with it; within a transaction. What is settled or released stays so.
 * Settling takes the real cost, which may be more than the bound: it was paid.
 */
export async function closeReservation(
  db: Kysely<Schema>,
  { id, state, cost }: { id: string; state: State; cost?: Cost },
): Promise<void> {
  const row = await db
    .selectFrom('reservations')
    .select(['sweep', 'state', 'bound_tokens', 'bound_micro_usd'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined || row.state === state || row.state === 'settled' || row.state === 'released') return;
  await db
    .updateTable('reservations')
    .set({
      state,
      settled_tokens: cost?.tokens ?? null,
      settled_micro_usd: cost?.microUsd ?? null,
      updated_at: new Date().toISOString(),
    })
    .where('id', '=', id)
    .execute();
  const bound = { tokens: row.bound_tokens, microUsd: row.bound_micro_usd };
  await count(db, row.sweep, row.state, bound, -1);
  await count(db, row.sweep, state, cost ?? bound, 1);
}

/** Marks open reservations, of a sweep or of a request or both, as possibly charged; within a transaction. */
export async function markOpen(db: Kysely<Schema>, which: { sweep?: string; request_key?: string }): Promise<void> {
  let open = db.selectFrom('reservations').select('id').where('state', '=', 'open');
  if (which.sweep !== undefined) open = open.where('sweep', '=', which.sweep);
  if (which.request_key !== undefined) open = open.where('request_key', '=', which.request_key);
  for (const { id } of await open.execute()) await closeReservation(db, { id, state: 'possibly_charged' });
}

async function count(db: Kysely<Schema>, sweep: string, state: State, cost: Cost, sign: 1 | -1): Promise<void> {
  if (state === 'released') return;
  const tokens = sign * cost.tokens;
  const microUsd = sign * cost.microUsd;
  const update = db.updateTable('ledgers').where('sweep', '=', sweep);
  switch (state) {
    case 'open':
      await update
        .set((e) => ({
          open_tokens: e('open_tokens', '+', tokens),
          open_micro_usd: e('open_micro_usd', '+', microUsd),
        }))
        .execute();
      return;
    case 'settled':
      await update
        .set((e) => ({
          settled_tokens: e('settled_tokens', '+', tokens),
          settled_micro_usd: e('settled_micro_usd', '+', microUsd),
        }))
        .execute();
      return;
    case 'possibly_charged':
      await update
        .set((e) => ({
          charged_tokens: e('charged_tokens', '+', tokens),
          charged_micro_usd: e('charged_micro_usd', '+', microUsd),
          charged_requests: e('charged_requests', '+', sign),
        }))
        .execute();
  }
}

/** `exhausted` when even the end of every open reservation could leave no room. */
async function whyRefused(db: Kysely<Schema>, sweep: string, bound: Cost): Promise<'wait' | 'exhausted'> {
  const row = await db.selectFrom('ledgers').selectAll().where('sweep', '=', sweep).executeTakeFirst();
  if (row === undefined) throw noSuchSweep(sweep);
  const full = (cap: number | null, used: number) => cap !== null && used > cap;
  const exhausted =
    full(row.cap_tokens, row.settled_tokens + row.charged_tokens + bound.tokens) ||
    full(row.cap_micro_usd, row.settled_micro_usd + row.charged_micro_usd + bound.microUsd);
  return exhausted ? 'exhausted' : 'wait';
}
