import { z } from 'zod';
import { sweepFileSchema } from './schema.ts';

/** JSON Schema (2020-12) of a sweep spec, for editors: `docs/sweep-spec.schema.json` is this text. */
export function sweepJsonSchema(): string {
  const schema = {
    ...z.toJSONSchema(sweepFileSchema, { io: 'input' }),
    title: 'qualityflow sweep spec',
    description: 'One sweep: a benchmark, a strategy and a model.',
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
