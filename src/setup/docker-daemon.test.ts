import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type DaemonPlaces, daemonPid, removeStalePidFiles } from './docker-daemon.ts';

const root = mkdtempSync(join(tmpdir(), 'qf-daemon-'));
after(() => rmSync(root, { recursive: true, force: true }));
let machines = 0;

/** A machine with these processes and pid files. */
function machine(processes: [pid: number, name: string, state: string][], pids: Record<string, string> = {}) {
  machines += 1;
  const folder = join(root, String(machines));
  const proc = join(folder, 'proc');
  mkdirSync(join(proc, 'sys'), { recursive: true });
  for (const [pid, name, state] of processes) {
    mkdirSync(join(proc, String(pid)));
    writeFileSync(join(proc, String(pid), 'stat'), `${pid} (${name}) ${state} 1 1 1 0\n`);
  }
  const path = (program: string) => join(folder, `${program}.pid`);
  for (const [program, text] of Object.entries(pids)) writeFileSync(path(program), text);
  const pidFiles = ['dockerd', 'containerd'].map((program) => ({ program, path: path(program) }));
  const places: DaemonPlaces = { proc, pidFiles };
  const left = () => pidFiles.filter((file) => existsSync(file.path)).map(({ program }) => program);
  return { places, left };
}

test('a daemon is one that runs, not one that was killed and not yet waited for', () => {
  assert.equal(daemonPid(machine([[7, 'dockerd', 'S']]).places), 7);
  for (const state of ['Z', 'X']) assert.equal(daemonPid(machine([[7, 'dockerd', state]]).places), undefined, state);
  assert.equal(
    daemonPid(
      machine([
        [7, 'dockerd', 'Z'],
        [9, 'dockerd', 'T'],
      ]).places,
    ),
    9,
  );
  assert.equal(
    daemonPid(
      machine([
        [7, 'a) Z (dockerd', 'S'],
        [8, 'dockerd-helper', 'S'],
      ]).places,
    ),
    undefined,
  );
  assert.equal(daemonPid({ proc: join(root, 'none'), pidFiles: [] }), undefined);
});

test('pid files that name nobody, a zombie or a stranger are removed', () => {
  const cases: Parameters<typeof machine>[] = [
    [[], { dockerd: '7', containerd: '8\n' }],
    [
      [
        [7, 'dockerd', 'Z'],
        [8, 'containerd', 'Z'],
      ],
      { dockerd: '7', containerd: '8' },
    ],
    [
      [
        [7, 'node', 'S'],
        [8, 'dockerd', 'S'],
      ],
      { dockerd: '7', containerd: '8' },
    ],
    [[], { dockerd: '', containerd: 'what' }],
  ];
  for (const [processes, pids] of cases) {
    const { places, left } = machine(processes, pids);
    assert.equal(removeStalePidFiles(places).length, 2);
    assert.deepEqual(left(), []);
  }
});

test('a containerd that outlived its daemon keeps its pid file: the next daemon goes on with it', () => {
  const { places, left } = machine([[8, 'containerd', 'S']], { dockerd: '7', containerd: '8' });
  removeStalePidFiles(places);
  assert.deepEqual(left(), ['containerd']);
});

test('where there are none, nothing is done', () => {
  assert.deepEqual(removeStalePidFiles(machine([]).places), []);
});
