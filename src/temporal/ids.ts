/** Ids of sweeps and their shards (architecture §4): pure, for workflows, activities and the command line alike. */

/** What a sweep or session may be called. Short enough that no id made of it needs cutting. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

export function isName(text: string): boolean {
  return NAME.test(text);
}

export function sweepWorkflowId(sweep: string): string {
  return `sweep/${sweep}`;
}

export function shardWorkflowId(sweep: string, shard: number): string {
  return `sweep/${sweep}/shard/${shard}`;
}
