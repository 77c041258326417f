import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type ScriptedModel, startScriptedModel } from '../src/models/scripted/server.ts';
import { readMini } from '../src/problems/mini/mini.ts';
import { withoutDocker } from '../src/sandbox/testing.ts';
import type { DevInfo } from '../src/temporal/embedded/dev.ts';
import { Project } from './support/cli.ts';

/** Slow enough to be met in flight, well within what a worker is given to end. */
const SLOW_MS = 2500;
/** What `docs/design/durability.md` promises of a worker, of which the last is for a slow machine. */
const DRAIN_MS = 10_000 + 5000 + 5000;

describe('sweeps that grow, fork, are cancelled and drained', { skip: withoutDocker, timeout: 280_000 }, () => {
  const project = new Project();
  const base = join(project.folder, 'base.jsonl');
  const plus = join(project.folder, 'plus.jsonl');
  const functions = readMini().filter(({ kind }) => kind === 'function');
  const tasks = functions.slice(0, 5).map((task) => task.task_id);
  let model: ScriptedModel;
  before(async () => {
    model = await startScriptedModel();
    const lines = functions
      .slice(0, 5)
      .map((task) => ({ ...task, hidden_tests: [`assert callable(${task.entry_point})`] }));
    writeFileSync(base, lines.map((line) => JSON.stringify(line)).join('\n'));
    // One task fewer, and the first one's tests cannot be passed.
    const stricter = lines.slice(0, 4).map((line, index) => ({
      ...line,
      hidden_tests: index === 0 ? [`assert ${line.entry_point} == 0`] : line.hidden_tests,
    }));
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
  const spec = (name: string, ...more: string[]) => [
    ...['sweep', 'run', '--name', name, '--strategy', 'zero-shot', '--model', 'scripted', '--endpoint', model.url],
    ...more,
  ];
  const listed = (count: number) => [
    ...['--benchmark', base],
    ...tasks.slice(0, count).flatMap((taskId) => ['--task', taskId]),
  ];
  const processes = (): DevInfo['processes'] =>
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

  it('labels a scripted model that is reached by URL', async () => {
    const { report } = await succeed(...spec('a', ...listed(4)));
    assert.equal(report.scripted, true);
    assert.equal(report.endpoint, model.url);
    assert.deepEqual(report.outcomes, { pass: 4 });
  });

  it('refuses another spec under the same name, and forks it with --fork: what is stored is not sent again', async () => {
    const other = spec('a', ...listed(4), '--samples', '2');
    const refused = await run(...other);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /samples: 1 there, 2 here\nAdd `--fork NEW`/);
    const again = await run(...spec('a', ...listed(4)), '--fork', 'same');
    assert.match(again.stderr, /would repeat it: nothing that changes results differs\.\n.*sweep resume a/);
    const nowhere = await run(...spec('none', ...listed(4)), '--fork', 'b');
    assert.deepEqual([again.code, nowhere.code], [2, 2]);
    assert.match(nowhere.stderr, /no sweep named "none"/);

    const before = model.log().total;
    const dry = await run(...other, '--fork', 'b', '--dry-run');
    assert.match(dry.stderr, /4 of the 8 requests for a first program have a stored reply/);
    const { report, stderr } = await succeed(...other, '--fork', 'b');
    assert.match(stderr, /Fork of a: 4 of the 8 requests for a first program have a stored reply/);
    assert.equal(report.planned, 8);
    assert.deepEqual([report.requests.sent, report.requests.reused], [4, 4]);
    assert.equal(model.log().total - before, 4);
    assert.equal(report.tokens.paid.replies, 4);
    const taken = await run(...other, '--fork', 'b');
    assert.equal(taken.code, 2);
    assert.match(taken.stderr, /b exists already, so a cannot be forked to it/);
  });

  it('adds a task to those that the spec lists', async () => {
    const before = model.log().total;
    const { report, stderr } = await succeed('sweep', 'extend', 'a', '--task', tasks[4] ?? '');
    assert.match(stderr, /a grows from 4 runs to 5/);
    assert.equal(report.planned, 5);
    assert.equal(model.log().total - before, 1);
  });

  it('extends to other tests of the same tasks without a request, and leaves what was measured as it is', async () => {
    const before = model.log().total;
    const { report, stderr } = await succeed('sweep', 'extend', 'a', '--benchmark', plus);
    assert.match(stderr, /1 task of a is not in .*plus\.jsonl, and left out/);
    assert.match(stderr, /4 of the 4 requests for a first program have a stored reply/);
    assert.equal(model.log().total, before, 'nothing was sent');
    assert.deepEqual(
      [report.sweep, report.planned, report.requests.sent, report.tokens.paid.replies],
      ['a-plus', 4, 0, 0],
    );
    assert.deepEqual(report.outcomes, { pass: 3, wrong: 1 });
    const first = await project.json('report', 'a');
    assert.deepEqual(first.outcomes, { pass: 5 });
    const taken = await run('sweep', 'extend', 'a', '--benchmark', plus);
    assert.equal(taken.code, 2);
    assert.match(taken.stderr, /a-plus exists already/);
    const elsewhere = await run('sweep', 'extend', 'a-plus', '--benchmark', 'humaneval+', '--data-dir', project.folder);
    assert.equal(elsewhere.code, 2);
  });

  it('resumes after a cancel by a run of its own, however long the cancelled one takes to end', async () => {
    model.setFaults([{ kind: 'slow', share: 1, waitMs: SLOW_MS }]);
    const before = model.log().total;
    assert.equal(
      (await run(...spec('c', '--benchmark', 'mini', '--limit', '3', '--samples', '2'), '--detach')).code,
      0,
    );
    await until('requests under way', () => model.log().total > before);
    const worker = processes().worker?.pid ?? assert.fail('no worker');
    process.kill(worker, 'SIGSTOP');
    assert.equal((await run('sweep', 'cancel', 'c')).code, 0);
    const twice = await project.run('sweep', 'cancel', 'c');
    assert.deepEqual([twice.code, twice.stdout], [0, 'c is being cancelled already.\n']);
    const resumed = project.start({}, 'sweep', 'resume', 'c', '--json');
    let told = '';
    resumed.child.stderr?.on('data', (chunk) => (told += String(chunk)));
    await until('the resume waits', () => told.includes('The sweep c is still being cancelled: waiting for its end'));
    process.kill(worker, 'SIGCONT');
    const { code, stdout, stderr } = await resumed.finished;
    assert.equal(code, 0, stderr);
    const { outcomes, planned } = JSON.parse(stdout);
    assert.equal(planned, 6);
    assert.equal(outcomes.cancelled, undefined);
    assert.equal(outcomes.not_run, undefined);
  });

  it('drains on SIGTERM within the promised time: replies under way are stored, and a resume sends none of them again', async () => {
    const before = model.log();
    const started = await run(
      ...spec('d', '--benchmark', 'mini', '--limit', '6', '--seed', '1', '--samples', '3'),
      '--concurrency',
      '6',
      '--detach',
    );
    assert.equal(started.code, 0, started.stderr);
    await until('requests under way', () => model.log().total > before.total);
    const all = Object.values(processes()).map(({ pid }) => pid);
    const supervisor = processes().supervisor?.pid ?? assert.fail('no supervisor');
    const asked = Date.now();
    process.kill(supervisor, 'SIGTERM');
    await until('all processes are gone', () => !all.some(alive));
    assert.ok(Date.now() - asked < DRAIN_MS, `took ${Date.now() - asked} ms`);
    const { open, total } = model.log();
    assert.equal(open, 0);
    assert.ok(total > before.total);

    model.setFaults([]);
    const { report } = await succeed('sweep', 'resume', 'd');
    assert.equal(report.outcomes.not_run, undefined);
    assert.deepEqual([report.requests.possiblyCharged, report.outcomes.cancelled], [0, undefined]);
    const repeated = Object.entries(model.log().counts).filter(
      ([body, count]) => count > 1 && (before.counts[body] ?? 0) === 0,
    );
    assert.deepEqual(repeated, []);
  });
});
