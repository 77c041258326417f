import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spelling } from './spelling.ts';

const same: [string, string][] = [
  ['f([1, 2], "a")', "f( [1,2,],'a' )"],
  ['((f(1)))', 'f(1)'],
  ['f({"a": [1,],})', "f({'a':[1]})"],
  ['(f(1) == f(2))', 'f(1)==f(2)'],
];
for (const [a, b] of same) test(`${a} and ${b} are one expression`, () => assert.equal(spelling(a), spelling(b)));

const different: [string, string][] = [
  ['f("a b")', 'f("ab")'],
  ['f((1,))', 'f((1))'],
  ['f("a")', 'f(a)'],
  ['f("\\"")', `f("'")`],
  ['f("(")', 'f(")")'],
  ['(f(1)) + (f(2))', 'f(1)) + (f(2)'],
];
for (const [a, b] of different) test(`${a} and ${b} differ`, () => assert.notEqual(spelling(a), spelling(b)));
