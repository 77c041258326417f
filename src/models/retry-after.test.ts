import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryAfterMs } from './retry-after.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const read = (headers: Record<string, string>) => retryAfterMs((name) => headers[name], now);

test('the hint is read as milliseconds, seconds or a date, the finest first', () => {
  assert.equal(read({ 'retry-after-ms': '250.2', 'retry-after': '9' }), 251);
  assert.equal(read({ 'retry-after': ' 1.5 ' }), 1500);
  assert.equal(read({ 'retry-after': '0' }), 0);
  assert.equal(read({ 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }), 60_000);
});

test('a hint in the past is 0, one beyond a day is a day', () => {
  assert.equal(read({ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }), 0);
  assert.equal(read({ 'retry-after': '99999999' }), 86_400_000);
});

test('a date is read on the endpoint’s clock, whatever ours says', () => {
  for (const [ours, theirs] of [
    ['an hour behind', '01:00:00'],
    ['an hour ahead', '23:00:00'],
  ] as const) {
    const day = theirs === '01:00:00' ? 'Thu, 01 Jan 2026' : 'Wed, 31 Dec 2025';
    const headers = { date: `${day} ${theirs} GMT`, 'retry-after': `${day} ${theirs.replace(':00:00', ':00:30')} GMT` };
    assert.equal(read(headers), 30_000, ours);
  }
  assert.equal(read({ date: 'soon', 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }), 60_000);
});

test('what is no hint is undefined', () => {
  for (const text of ['', 'soon', '-5', 'NaN', 'Infinity', '1e3', '12abc'])
    assert.equal(read({ 'retry-after': text }), undefined, text);
  assert.equal(read({}), undefined);
});
