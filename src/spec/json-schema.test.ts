import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { sweepJsonSchema } from './json-schema.ts';

test('docs/sweep-spec.schema.json is current', () => {
  const committed = readFileSync(new URL('../../docs/sweep-spec.schema.json', import.meta.url), 'utf8');
  assert.equal(
    committed,
    sweepJsonSchema(),
    'write it again: node -e "import(\'./src/spec/json-schema.ts\').then(m => process.stdout.write(m.sweepJsonSchema()))" > docs/sweep-spec.schema.json',
  );
});
