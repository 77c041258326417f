import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDebianLike } from './system-packages.ts';

test('recognises Debian, Ubuntu and what is made from them by os-release', () => {
  assert.ok(isDebianLike('PRETTY_NAME="Debian GNU/Linux 12"\nID=debian\n'));
  assert.ok(isDebianLike('ID=ubuntu\nID_LIKE=debian\n'));
  assert.ok(isDebianLike('ID=linuxmint\nID_LIKE="ubuntu debian"\n'));
  assert.ok(!isDebianLike('ID=fedora\nID_LIKE="rhel"\nNAME="not debian"\n'));
  assert.ok(!isDebianLike(''));
});
