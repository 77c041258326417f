import type { SweepSpec } from '../spec/spec.ts';
import type { Database } from './database.ts';
import { fromJson, keyText } from './encoding.ts';
import type { Store } from './store.ts';

/** Rows an INSERT carries, as in `sweeps.ts`. */
const INSERT_ROWS = 1000;

/**
 * A plan grown in place. Outcomes, steps and replies are kept by task and sample, so they keep their meaning; positions (task index ×
 * samples + sample) do not, so no workflow of the sweep may be running.
 */
export function sweepExtension(database: Database): Pick<Store, 'extendSweep'> {
  return {
    async extendSweep({ name, fromHash, samples, selection, specHash, tasks }) {
      const sweep = keyText(name);
      const wanted = tasks.map(keyText);
      if (new Set(wanted).size !== wanted.length) throw new RangeError('two tasks of a sweep have the same id');
      return database.transact(async (db) => {
        const row = await db
          .selectFrom('sweeps')
          .select(['spec', 'samples'])
          .where('name', '=', sweep)
          .where('spec_hash', '=', fromHash)
          .executeTakeFirst();
        const before = await db
          .selectFrom('sweep_tasks')
          .select('task_id')
          .where('sweep', '=', sweep)
          .orderBy('task_index')
          .execute();
        const grows = samples >= (row?.samples ?? 0) && before.every(({ task_id }, index) => task_id === wanted[index]);
        if (row === undefined || !grows) return false;
        const spec: SweepSpec = {
          ...fromJson<SweepSpec>(row.spec),
          samples,
          ...(selection.limit === undefined ? {} : { limit: selection.limit }),
          ...(selection.tasks === undefined ? {} : { tasks: selection.tasks }),
        };
        await db
          .updateTable('sweeps')
          .set({
            spec: JSON.stringify(spec),
            spec_hash: specHash,
            samples,
            planned: wanted.length * samples,
            updated_at: new Date().toISOString(),
          })
          .where('name', '=', sweep)
          .execute();
        const added = wanted.map((task_id, task_index) => ({ sweep, task_index, task_id })).slice(before.length);
        for (let at = 0; at < added.length; at += INSERT_ROWS) {
          await db
            .insertInto('sweep_tasks')
            .values(added.slice(at, at + INSERT_ROWS))
            .execute();
        }
        return true;
      });
    },
  };
}
