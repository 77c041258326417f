import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { RotatingLog } from './rotating-log.ts';

test('a log keeps a bounded number of bounded files, the newest lines in the first', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'qf-log-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'x.log');
  const log = new RotatingLog({ path, maxBytes: 100, keep: 2 });
  for (let line = 0; line < 100; line += 1) log.write(`line ${line}\n`);
  assert.deepEqual(readdirSync(folder).sort(), ['x.log', 'x.log.1', 'x.log.2']);
  for (const file of readdirSync(folder)) assert.ok(statSync(join(folder, file)).size < 120);
  assert.match(readFileSync(path, 'utf8'), /line 99\n$/);
});

test('the last words of a process are its error, not the stack below it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'qf-log-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const log = new RotatingLog({ path: join(folder, 'x.log') });
  log.write('ready\nError: no such thing\n    at x (y:1:2)\n\nNode.js v24\n');
  assert.equal(log.lastWords(), 'Error: no such thing');
});

test('a folder that has gone does not end what is logged', () => {
  const log = new RotatingLog({ path: join(tmpdir(), 'qf-no-such-folder', 'x.log') });
  log.write('still here\n');
  assert.equal(log.lastWords(), 'still here');
});
