import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InfrastructureError } from '../infrastructure-error.ts';
import { serverStorage } from './server-storage.ts';

test('histories are kept in a file unless the environment says otherwise, in a word that is known', () => {
  assert.equal(serverStorage({}), 'file');
  assert.equal(serverStorage({ QUALITYFLOW_TEMPORAL: '' }), 'file');
  assert.equal(serverStorage({ QUALITYFLOW_TEMPORAL: 'memory' }), 'memory');
  assert.throws(() => serverStorage({ QUALITYFLOW_TEMPORAL: 'ram' }), InfrastructureError);
});
