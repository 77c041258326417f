import { type Kysely, sql } from 'kysely';
import type { Migration, MigrationProvider } from 'kysely/migration';

/**
 * Never edited once released: a later schema is a later entry. Names sort in the order of application. Long texts are the last columns
 * of a table, because SQLite walks through a row's overflow pages to whatever stands behind them.
 */
const MIGRATIONS: Record<string, Migration> = {
  '0001-foundation': { up: foundation },
  '0002-ledger': { up: ledger },
};

export const migrationProvider: MigrationProvider = { getMigrations: async () => MIGRATIONS };

export const knownMigrations: ReadonlySet<string> = new Set(Object.keys(MIGRATIONS));

async function foundation(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('sweeps')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('spec', 'text', (c) => c.notNull())
    .addColumn('spec_hash', 'text', (c) => c.notNull())
    .addColumn('dataset_sha256', 'text', (c) => c.notNull())
    .addColumn('scripted', 'integer', (c) => c.notNull())
    .addColumn('endpoint_identity', 'text', (c) => c.notNull())
    .addColumn('samples', 'integer', (c) => c.notNull())
    .addColumn('planned', 'integer', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('sweep_tasks')
    .addColumn('sweep', 'text', (c) => c.notNull().references('sweeps.name').onDelete('cascade'))
    .addColumn('task_index', 'integer', (c) => c.notNull())
    .addColumn('task_id', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('sweep_tasks_pk', ['sweep', 'task_index'])
    .addUniqueConstraint('sweep_tasks_id', ['sweep', 'task_id'])
    .execute();
  await db.schema
    .createTable('outcomes')
    .addColumn('sweep', 'text', (c) => c.notNull())
    .addColumn('task_id', 'text', (c) => c.notNull())
    .addColumn('sample', 'integer', (c) => c.notNull())
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('outcome', 'text', (c) => c.notNull())
    .addColumn('final', 'integer', (c) => c.notNull())
    .addColumn('final_step', 'text', (c) => c.notNull())
    .addColumn('tokens', 'bigint', (c) => c.notNull())
    .addColumn('requests', 'integer', (c) => c.notNull())
    .addColumn('submission', 'integer')
    .addColumn('fingerprint', 'text')
    .addColumn('recorded_at', 'text', (c) => c.notNull())
    .addColumn('detail', 'text', (c) => c.notNull())
    .addColumn('trail', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('outcomes_pk', ['sweep', 'task_id', 'sample'])
    .addForeignKeyConstraint('outcomes_task', ['sweep', 'task_id'], 'sweep_tasks', ['sweep', 'task_id'], (c) =>
      c.onDelete('cascade'),
    )
    .execute();
  await db.schema
    .createTable('replies')
    .addColumn('reply_key', 'text', (c) => c.primaryKey())
    .addColumn('prompt_tokens', 'bigint')
    .addColumn('completion_tokens', 'bigint')
    .addColumn('sender', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('request', 'text', (c) => c.notNull())
    .addColumn('reply', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('steps')
    .addColumn('sweep', 'text', (c) => c.notNull())
    .addColumn('task_id', 'text', (c) => c.notNull())
    .addColumn('sample', 'integer', (c) => c.notNull())
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('step', 'text', (c) => c.notNull())
    .addColumn('reply_key', 'text', (c) => c.notNull())
    .addColumn('activity', 'text', (c) => c.notNull())
    .addColumn('reused', 'integer', (c) => c.notNull())
    .addColumn('result', 'text', (c) => c.notNull())
    .addColumn('started_at', 'text', (c) => c.notNull())
    .addColumn('duration_ms', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('steps_pk', ['sweep', 'task_id', 'sample', 'attempt', 'step', 'reply_key'])
    .addForeignKeyConstraint('steps_task', ['sweep', 'task_id'], 'sweep_tasks', ['sweep', 'task_id'], (c) =>
      c.onDelete('cascade'),
    )
    .execute();
}

/**
 * One row of counters a sweep, so that one conditional UPDATE decides about a reservation. A sweep of before has settled what its
 * distinct replies used; it had no prices, and so no money.
 */
async function ledger(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('sweeps')
    .addColumn('state_reason', 'text', (c) => c.notNull().defaultTo(''))
    .execute();
  let counters = db.schema
    .createTable('ledgers')
    .addColumn('sweep', 'text', (c) => c.primaryKey().references('sweeps.name').onDelete('cascade'))
    .addColumn('cap_tokens', 'bigint')
    .addColumn('cap_micro_usd', 'bigint');
  for (const state of ['settled', 'open', 'charged'])
    for (const unit of ['tokens', 'micro_usd'])
      counters = counters.addColumn(`${state}_${unit}`, 'bigint', (c) => c.notNull().defaultTo(0));
  await counters.addColumn('charged_requests', 'integer', (c) => c.notNull().defaultTo(0)).execute();
  await db.schema
    .createTable('reservations')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('sweep', 'text', (c) => c.notNull().references('ledgers.sweep').onDelete('cascade'))
    .addColumn('task_id', 'text', (c) => c.notNull())
    .addColumn('sample', 'integer', (c) => c.notNull())
    .addColumn('step', 'text', (c) => c.notNull())
    .addColumn('attempt', 'text', (c) => c.notNull())
    .addColumn('request_key', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('bound_tokens', 'bigint', (c) => c.notNull())
    .addColumn('bound_micro_usd', 'bigint', (c) => c.notNull())
    .addColumn('settled_tokens', 'bigint')
    .addColumn('settled_micro_usd', 'bigint')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('reservations_key').on('reservations').columns(['request_key', 'state']).execute();
  await db.schema.createIndex('reservations_state').on('reservations').columns(['sweep', 'state']).execute();
  await sql`
    insert into ledgers (sweep, settled_tokens)
    select name, (
      select coalesce(sum(coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0)), 0)
      from replies where json_extract(sender, '$[0]') = sweeps.name
    ) from sweeps`.execute(db);
  await sql`
    update sweeps set spec = json_set(spec, '$.budget', json('{}'), '$.maxWaitMs', 86400000)
    where json_extract(spec, '$.budget') is null`.execute(db);
}
