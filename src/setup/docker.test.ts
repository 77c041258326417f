import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DockerFacts, mayBeStarting, planDocker } from './docker.ts';

const NONE: DockerFacts = {
  engine: { ok: false, problem: 'no Docker engine', remedy: 'start Docker' },
  chosenByUser: false,
  daemon: undefined,
  canInstall: true,
  installed: false,
};

test('an engine that answers is used, whatever else is there', () => {
  assert.equal(
    planDocker({ ...NONE, engine: { ok: true, version: '1', cgroup: 'v2' }, daemon: 7, installed: true }),
    'use',
  );
});

test('a daemon is started, after installing it where it is absent', () => {
  assert.equal(planDocker(NONE), 'install');
  assert.equal(planDocker({ ...NONE, installed: true }), 'start');
});

test('there is never a second daemon, none without root, and none beside an engine that the user chose', () => {
  for (const fact of [{ daemon: 7 }, { canInstall: false }, { chosenByUser: true }]) {
    assert.equal(planDocker({ ...NONE, installed: true, ...fact }), 'explain', JSON.stringify(fact));
  }
});

test('only a daemon of this machine that answers nobody is waited for', () => {
  const silent: DockerFacts = { ...NONE, daemon: 7 };
  assert.equal(mayBeStarting(silent), true);
  assert.equal(mayBeStarting(NONE), false);
  assert.equal(mayBeStarting({ ...silent, chosenByUser: true }), false, 'the user means another one');
  const denied = { ok: false, problem: 'EACCES', remedy: 'ask', denied: true } as const;
  assert.equal(mayBeStarting({ ...silent, engine: denied }), false, 'it has answered: not to this user');
});
