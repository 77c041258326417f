import type { Kysely, Selectable } from 'kysely';
import type { SweepSpec } from '../spec/spec.ts';
import type { Database } from './database.ts';
import { fromJson, keyText } from './encoding.ts';
import { capsOf, markOpen, NOTHING_USED } from './ledger.ts';
import type { Schema } from './schema.ts';
import type { Store, SweepPlan, SweepRow, SweepState, UnfinishedRun } from './store.ts';
import { noSuchSweep, StoreError } from './store-error.ts';

/** Rows an INSERT carries: three values each, well under SQLite's 32,766 and Postgres's 65,535 bound values. */
const INSERT_ROWS = 1000;
/** Planned runs looked at in one read of `listUnfinished`. */
const PAGE_RUNS = 2000;

export function sweepTable(
  database: Database,
): Pick<
  Store,
  | 'createSweep'
  | 'getPlan'
  | 'getSweep'
  | 'listSweeps'
  | 'setSweepState'
  | 'updateOperational'
  | 'runningLimits'
  | 'listUnfinished'
> {
  return {
    async createSweep(sweep) {
      const name = keyText(sweep.name);
      const tasks = sweep.tasks.map(keyText);
      requireConsistent(sweep, tasks);
      const now = new Date().toISOString();
      return database.transact(async (db) => {
        const created = await db
          .insertInto('sweeps')
          .values({
            name,
            spec: JSON.stringify(sweep.spec),
            spec_hash: sweep.specHash,
            dataset_sha256: sweep.datasetSha256,
            scripted: sweep.scripted ? 1 : 0,
            endpoint_identity: keyText(sweep.endpointIdentity),
            samples: sweep.spec.samples,
            planned: sweep.planned,
            state: 'created',
            state_reason: '',
            created_at: now,
            updated_at: now,
          })
          .onConflict((conflict) => conflict.column('name').doNothing())
          .returning('name')
          .executeTakeFirst();
        if (created === undefined) return 'exists';
        await db
          .insertInto('ledgers')
          .values({ sweep: name, ...NOTHING_USED, ...capsOf(sweep.spec) })
          .execute();
        const rows = tasks.map((task_id, task_index) => ({ sweep: name, task_index, task_id }));
        for (let at = 0; at < rows.length; at += INSERT_ROWS) {
          await db
            .insertInto('sweep_tasks')
            .values(rows.slice(at, at + INSERT_ROWS))
            .execute();
        }
        return 'created';
      });
    },

    async getPlan(name) {
      return database.run(async (db) => {
        const row = await db.selectFrom('sweeps').selectAll().where('name', '=', keyText(name)).executeTakeFirst();
        return row && planOf(row);
      });
    },

    async getSweep(name) {
      return database.run(async (db) => {
        const row = await db.selectFrom('sweeps').selectAll().where('name', '=', keyText(name)).executeTakeFirst();
        return row && readSweep(db, row);
      });
    },

    async listSweeps() {
      return database.run(async (db) => {
        const rows = await db.selectFrom('sweeps').selectAll().orderBy('created_at').orderBy('name').execute();
        const sweeps: SweepRow[] = [];
        for (const row of rows) sweeps.push(await readSweep(db, row));
        return sweeps;
      });
    },

    async setSweepState(name, state, { reason = '', from, unchangedSince } = {}) {
      return database.transact(async (db) => {
        let update = db
          .updateTable('sweeps')
          .set({ state, state_reason: keyText(reason), updated_at: new Date().toISOString() })
          .where('name', '=', keyText(name));
        if (from !== undefined) update = update.where('state', 'in', from);
        if (unchangedSince !== undefined) update = update.where('updated_at', '=', unchangedSince);
        const changed = await update.returning('name').executeTakeFirst();
        if (changed === undefined) return false;
        if (state === 'completed' || state === 'cancelled') await markOpen(db, { sweep: changed.name });
        return true;
      });
    },

    async updateOperational(name, change) {
      return database.transact(async (db) => {
        const row = await db.selectFrom('sweeps').select('spec').where('name', '=', keyText(name)).executeTakeFirst();
        if (row === undefined) return false;
        const spec: SweepSpec = { ...fromJson<SweepSpec>(row.spec), ...change };
        await db
          .updateTable('sweeps')
          .set({ spec: JSON.stringify(spec), updated_at: new Date().toISOString() })
          .where('name', '=', keyText(name))
          .execute();
        await db.updateTable('ledgers').set(capsOf(spec)).where('sweep', '=', keyText(name)).execute();
        return true;
      });
    },

    async runningLimits() {
      const rows = await database.run((db) =>
        db.selectFrom('sweeps').select('spec').where('state', '=', 'running').orderBy('name').execute(),
      );
      return rows.map((row) => {
        const { model, concurrency } = fromJson<SweepSpec>(row.spec);
        return { endpoint: model.endpoint, requests: concurrency.requests };
      });
    },

    async listUnfinished({ sweep, from, to, limit }) {
      const name = keyText(sweep);
      const size = await database.run((db) =>
        db.selectFrom('sweeps').select(['samples', 'planned']).where('name', '=', name).executeTakeFirst(),
      );
      if (size === undefined) throw noSuchSweep(sweep);
      const end = Math.min(to, size.planned);
      const unfinished: UnfinishedRun[] = [];
      let position = Math.max(0, from);
      while (position < end && unfinished.length < limit) {
        const pageEnd = Math.min(end, position + PAGE_RUNS);
        const page = await database.run((db) =>
          unfinishedPage(db, { sweep: name, samples: size.samples, from: position, to: pageEnd }),
        );
        unfinished.push(...page);
        position = pageEnd;
      }
      return unfinished.slice(0, limit);
    },
  };
}

function requireConsistent(sweep: Pick<SweepRow, 'planned' | 'spec'>, tasks: string[]): void {
  if (sweep.planned !== tasks.length * sweep.spec.samples) {
    throw new RangeError(
      `planned must be tasks × samples = ${tasks.length} × ${sweep.spec.samples}, not ${sweep.planned}`,
    );
  }
  if (new Set(tasks).size !== tasks.length) throw new RangeError('two tasks of a sweep have the same id');
}

async function readSweep(db: Kysely<Schema>, row: Selectable<Schema['sweeps']>): Promise<SweepRow> {
  const tasks = await db
    .selectFrom('sweep_tasks')
    .select('task_id')
    .where('sweep', '=', row.name)
    .orderBy('task_index')
    .execute();
  return { ...planOf(row), tasks: tasks.map((task) => task.task_id) };
}

function planOf(row: Selectable<Schema['sweeps']>): SweepPlan {
  return {
    name: row.name,
    spec: fromJson<SweepSpec>(row.spec),
    specHash: row.spec_hash,
    datasetSha256: row.dataset_sha256,
    scripted: row.scripted === 1,
    endpointIdentity: row.endpoint_identity,
    planned: row.planned,
    state: sweepState(row.state),
    stateReason: row.state_reason,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

const STATES: Record<SweepState, true> = {
  created: true,
  running: true,
  paused: true,
  blocked: true,
  completed: true,
  cancelled: true,
  failed: true,
};

function isSweepState(text: string): text is SweepState {
  return Object.hasOwn(STATES, text);
}

function sweepState(text: string): SweepState {
  if (isSweepState(text)) return text;
  throw new StoreError({
    kind: 'corrupt',
    message: `A sweep in the database has the unknown state ${JSON.stringify(text)}.`,
    remedy: 'Use the version of qualityflow that wrote it.',
  });
}

/** Runs in `[from, to)` without a final outcome; a range, never a whole sweep, is in memory. */
async function unfinishedPage(
  db: Kysely<Schema>,
  page: { sweep: string; samples: number; from: number; to: number },
): Promise<UnfinishedRun[]> {
  const { sweep, samples, from, to } = page;
  const rows = await db
    .selectFrom('sweep_tasks as task')
    .leftJoin('outcomes as outcome', (join) =>
      join.onRef('outcome.sweep', '=', 'task.sweep').onRef('outcome.task_id', '=', 'task.task_id'),
    )
    .select(['task.task_index', 'task.task_id', 'outcome.sample', 'outcome.attempt', 'outcome.final'])
    .where('task.sweep', '=', sweep)
    .where('task.task_index', '>=', Math.floor(from / samples))
    .where('task.task_index', '<', Math.ceil(to / samples))
    .orderBy('task.task_index')
    .execute();

  const taskIds = new Map(rows.map((row) => [row.task_index, row.task_id]));
  const recorded = new Map<number, { attempt: number; final: boolean }>();
  for (const row of rows) {
    if (row.sample === null || row.attempt === null) continue;
    recorded.set(row.task_index * samples + row.sample, { attempt: row.attempt, final: row.final === 1 });
  }
  const runs: UnfinishedRun[] = [];
  for (let position = from; position < to; position++) {
    const taskId = taskIds.get(Math.floor(position / samples));
    const earlier = recorded.get(position);
    if (taskId === undefined || earlier?.final === true) continue;
    runs.push({ position, taskId, sample: position % samples, attempt: 1 + (earlier?.attempt ?? 0) });
  }
  return runs;
}
