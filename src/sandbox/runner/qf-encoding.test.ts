import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const python = spawnSync('python3', ['--version']);
const withoutPython = python.status === 0 ? false : 'no python3 on this machine';

test('the encoding is lossless and survives hostile values (test_qf_encoding.py)', { skip: withoutPython }, () => {
  const run = spawnSync('python3', ['-B', '-m', 'unittest', 'test_qf_encoding'], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.equal(run.status, 0, run.stderr);
  assert.match(run.stderr, /Ran \d\d tests/);
});
