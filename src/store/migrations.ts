import type { Kysely } from 'kysely';
import type { Migration, MigrationProvider } from 'kysely/migration';

/**
 * Never edited once released: a later schema is a later entry. Names sort in the order of application. Long texts are the last columns
 * of a table, because SQLite walks through a row's overflow pages to whatever stands behind them.
 */
const MIGRATIONS: Record<string, Migration> = {
  '0001-foundation': { up: foundation },
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
