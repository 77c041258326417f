import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type ScriptedModel, startScriptedModel } from '../src/models/scripted/server.ts';
import { readMini } from '../src/problems/mini/mini.ts';
import { withoutDocker } from '../src/sandbox/testing.ts';
import { DRAIN_MS, FORCE_AFTER_MS } from '../src/temporal/drain.ts';
import type { DevState } from '../src/temporal/embedded/control.ts';
import { Project } from './support/cli.ts';

/** Slow enough to be met in flight, well within what a worker is given to end. */
const SLOW_MS = 2500;
/** The worker, then the Temporal server: what `docs/design/durability.md` promises. */
const WITHIN_MS = DRAIN_MS + FORCE_AFTER_MS + 10_000;

describe('sweeps that grow, fork, are cancelled and drained', { skip: withoutDocker, timeout: 400_000 }, () => {
  const project = new Project();
  const base = join(project.folder, 'base.jsonl');
  const plus = join(project.folder, 'plus.jsonl');
  const [first] = readMini().filter(({ kind }) => kind === 'function');
  const task = first?.task_id ?? '';
  const strict = first?.hidden_tests.length ?? 0;
  let model: ScriptedModel;
  before(async () => {
    model = await startScriptedModel();
    const lines = readMini()
      .filter(({ kind }) => kind === 'function')
      .slice(0, 4);
    const weak = lines.map((line) => ({ ...line, hidden_tests: line.hidden_tests.slice(0, 1) }));
    writeFileSync(base, weak.map((line) => JSON.stringify(line)).join('\n'));
    const stricter = lines.slice(0, 3);
    writeFileSync(plus, stricter.map((line) => JSON.stringify(line)).join('\n'));
  });
  after(async () => {
    await project.close();
    await model.close();
  });

  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await project.run(...args);
    return { code, stderr, report: code === 0 && args.includes('--json') ? JSON.parse(stdout) : undefined };
  };
  const succeed = async (...args: string[]) => {
    const ended = await run(...args, '--json');
    assert.equal(ended.code, 0, `${args.join(' ')}: ${ended.stderr}`);
    return ended;
  };
  const spec = (name: string, ...more: string[]) =>
    ['sweep', 'run', '--name', name, '--strategy', 'zero-shot', '--model', 'scripted', '--endpoint', model.url].concat(
      more,
    );
  const processes = (): DevState['processes'] =>
    JSON.parse(readFileSync(join(project.home, 'dev.json'), 'utf8')).processes;
  const until = async (what: string, holds: () => boolean | Promise<boolean>) => {
    const deadline = Date.now() + 60_000;
    while (!(await holds())) {
      assert.ok(Date.now() < deadline, `still not: ${what}`);
      await delay(50);
    }
  };
  const alive = (pid: number) => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  };

  it('forks a sweep to another spec: a scripted model is known by URL, and what is stored is not sent again', async () => {
    const { report: first } = await succeed(...spec('a', '--benchmark', base));
    assert.deepEqual([first.scripted, first.endpoint, first.planned], [true, model.url, 4]);
    const other = spec('a', '--benchmark', base, '--samples', '2');
    const refused = await run(...other, '--dry-run');
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /samples: 1 there, 2 here\nAdd `--fork NEW`/);

    const before = model.log().total;
    const { report, stderr } = await succeed(...other, '--fork', 'b');
    assert.match(stderr, /Fork of a: 4 of the 8 requests for a first program have a stored reply/);
    assert.deepEqual([report.sweep, report.planned, report.requests.reused], ['b', 8, 4]);
    assert.equal(report.requests.sent, report.tokens.paid.replies);
    assert.equal(model.log().total - before, report.requests.sent);
  });

  it('extends to other tests of the same tasks without a request, and leaves what was measured as it is', async () => {
    const before = model.log().total;
    const measured = await project.json('report', 'a');
    const { report, stderr } = await succeed('sweep', 'extend', 'a', '--benchmark', plus, '--budget-tokens', '9000000');
    assert.match(stderr, /1 task of a is not in .*plus\.jsonl, and left out/);
    assert.match(stderr, /3 of the 3 requests for a first program have a stored reply/);
    assert.equal(model.log().total, before, 'nothing was sent');
    assert.deepEqual([report.sweep, report.planned, report.requests.sent], ['a-plus', 3, 0]);
    assert.deepEqual([report.tokens.paid.replies, report.requests.reused], [0, 3]);
    assert.match(JSON.stringify((await project.json('sweep', 'status', 'a-plus')).spent), /"cap":{"tokens":9000000,/);
    const shown = async (sweep: string) => JSON.stringify(await project.json('show', sweep, task));
    assert.match(await shown('a'), new RegExp(`"tests":1\\b`));
    assert.match(await shown('a-plus'), new RegExp(`"tests":${strict}\\b`));
    assert.deepEqual(await project.json('report', 'a'), measured);
  });

  it('resumes after a cancel by a run of its own, and drains on SIGTERM within the promised time', async () => {
    model.setFaults([{ kind: 'slow', share: 1, waitMs: SLOW_MS }]);
    const before = model.log().total;
    const sweep = spec('c', '--benchmark', 'mini', '--limit', '8', '--seed', '7', '--concurrency', '4');
    assert.equal((await run(...sweep, '--detach')).code, 0);
    await until('requests under way', () => model.log().total > before);
    const worker = processes().worker?.pid ?? assert.fail('no worker');
    process.kill(worker, 'SIGSTOP');
    assert.equal((await run('sweep', 'cancel', 'c')).code, 0);
    const twice = await project.run('sweep', 'cancel', 'c');
    assert.deepEqual([twice.code, twice.stdout], [0, 'c is being cancelled already.\n']);
    const resumed = project.start({}, 'sweep', 'resume', 'c', '--detach');
    let told = '';
    resumed.child.stderr?.on('data', (chunk) => (told += String(chunk)));
    await until('the resume waits', () => told.includes('The sweep c is still being cancelled: waiting for its end'));
    process.kill(worker, 'SIGCONT');
    const { code, stderr } = await resumed.finished;
    assert.equal(code, 0, stderr);

    const cancelled = model.log().total;
    await until('requests under way again', () => model.log().total > cancelled && model.log().open > 0);
    const all = Object.values(processes()).map(({ pid }) => pid);
    const supervisor = processes().supervisor?.pid ?? assert.fail('no supervisor');
    const asked = Date.now();
    process.kill(supervisor, 'SIGTERM');
    await until('all processes are gone', () => !all.some(alive));
    assert.ok(Date.now() - asked < WITHIN_MS, `took ${Date.now() - asked} ms`);
    assert.equal(model.log().open, 0);

    model.setFaults([]);
    const { report } = await succeed('sweep', 'resume', 'c');
    assert.deepEqual([report.planned, report.outcomes.cancelled, report.outcomes.not_run], [8, undefined, undefined]);
    // What was cut off was so by the cancel, and is told; nothing was by the drain.
    assert.equal(model.log().total - before, report.requests.sent + report.requests.possiblyCharged);
    assert.ok(report.requests.possiblyCharged <= cancelled - before);
  });
});
