import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideDirect, surelyDiffers } from './decide-direct.ts';

const decide = (value: string, expected: string, brief = false) =>
  decideDirect({ label: 'assert f(1) == 2', expected }, { kind: 'value', value }, { brief })?.status;

test('equal encodings pass, except where a value need not equal itself', () => {
  for (const value of ['2', '"a"', '[1,[2]]', '{"t":[{"f":"0.5"}]}', '{"d":[["k",{"s":[1]}]]}', 'null'])
    assert.equal(decide(value, value), 'pass', value);
  for (const value of [
    '{"f":"nan"}',
    '[{"f":"nan"}]',
    '{"o":["C","x",true]}',
    '{"g":["generator",[]]}',
    '{"u":["C",1]}',
  ])
    assert.equal(decide(value, value), undefined, value);
});

test('different encodings are the judge’s, unless only the status is wanted and they cannot be equal', () => {
  assert.equal(decide('3', '2'), undefined);
  assert.equal(decide('3', '2', true), 'fail');
  assert.equal(decide('true', '1', true), undefined);
});

test('what surely differs differs in Python', () => {
  const differ = [
    ['1', '2'],
    ['1', '"1"'],
    ['null', 'false'],
    ['true', '0'],
    ['{"f":"1.5"}', '1'],
    ['{"f":"nan"}', '{"f":"nan"}'],
    ['{"f":"inf"}', '{"f":"-inf"}'],
    ['[1,2]', '[2,1]'],
    ['[1,2]', '{"t":[1,2]}'],
    ['{"t":["a"]}', '{"t":["b"]}'],
  ];
  const unknown = [
    ['1', '1'],
    ['1', 'true'],
    ['{"f":"0.0"}', '{"f":"-0.0"}'],
    ['{"f":"2.0"}', '2'],
    ['[1]', '[true]'],
    ['[{"f":"1.0"}]', '[1]'],
    ['{"d":[[1,2],[3,4]]}', '{"d":[[3,4],[1,2]]}'],
    ['{"s":[1]}', '{"z":[1]}'],
    ['{"i":"0x20000000000001"}', '{"f":"9007199254740993.0"}'],
    ['{"u":["C","a"]}', '"a"'],
  ];
  for (const [a = '', b = ''] of differ) assert.ok(surelyDiffers(a, b) && surelyDiffers(b, a), `${a} ${b}`);
  for (const [a = '', b = ''] of unknown) assert.ok(!surelyDiffers(a, b) && !surelyDiffers(b, a), `${a} ${b}`);
});

test('a call without a value ends its test', () => {
  const test = { label: 'assert f(1) == 2', expected: '2' };
  assert.deepEqual(decideDirect(test, { kind: 'timeout' }, { brief: false }), { status: 'timeout', test: test.label });
  const raised = { kind: 'exception', type: 'E', base: 'ValueError', message: 'no', line: 3, phase: 'call' } as const;
  assert.deepEqual(decideDirect(test, raised, { brief: false }), {
    status: 'error',
    exception: 'E: no (line 3)',
    test: test.label,
  });
  assert.equal(decideDirect({ label: 'assert g(f(1))' }, { kind: 'timeout' }, { brief: true }), undefined);
});
