import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, describe, it } from 'node:test';
import { SCRIPT } from '../src/models/scripted/script/index.ts';
import { startScriptedModel } from '../src/models/scripted/server.ts';
import { withoutDocker } from '../src/sandbox/testing.ts';
import { openStore } from '../src/store/open-store.ts';
import type { OutcomeRow } from '../src/store/store.ts';
import { Project } from './support/cli.ts';

async function outcomesOf(home: string, sweep: string): Promise<Map<string, OutcomeRow>> {
  const store = await openStore({ home });
  try {
    const rows = new Map<string, OutcomeRow>();
    for await (const row of store.outcomes(sweep)) rows.set(row.run.taskId, row);
    return rows;
  } finally {
    await store.close();
  }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`);
    });
  });
}

describe('the command line on the real thing: Temporal, Docker, HTTP to the scripted model', {
  skip: withoutDocker,
  timeout: 295_000,
}, () => {
  const project = new Project();
  after(() => project.close());

  it('takes every problem of the mini set to the end its script is written for', async () => {
    const zero = await project.run(
      'sweep',
      'run',
      '--benchmark',
      'mini',
      '--model',
      'scripted',
      '--strategy',
      'zero-shot',
      '--name',
      'zero',
    );
    assert.equal(zero.code, 0, zero.stderr);
    const flow = await project.run(
      'sweep',
      'run',
      '--benchmark',
      'mini',
      '--model',
      'scripted',
      '--strategy',
      'standard',
      '--name',
      'flow',
    );
    assert.equal(flow.code, 0, flow.stderr);
    assert.match(zero.stdout, /scripted/i);

    const zeroRows = await outcomesOf(project.home, 'zero');
    const flowRows = await outcomesOf(project.home, 'flow');
    for (const { taskId, expected } of SCRIPT) {
      assert.equal(zeroRows.get(taskId)?.outcome === 'pass', expected.zeroShot, `${taskId} zero-shot`);
      const row = flowRows.get(taskId);
      assert.deepEqual(
        { passed: row?.outcome === 'pass', finalStep: row?.finalStep },
        { passed: expected.qualityFlow, finalStep: expected.finalStep },
        taskId,
      );
    }
  });

  it('reports by step, with the counts adding up', async () => {
    const report = await project.json('report', 'flow');
    assert.equal(report.scripted, true);
    assert.equal(report.planned, SCRIPT.length);
    const outcomes = Object.values(report.outcomes as Record<string, number>);
    assert.equal(
      outcomes.reduce((sum, count) => sum + count, 0),
      SCRIPT.length,
    );
    const steps = report.steps as { step: string; passed: number; accepted: number }[];
    assert.deepEqual(
      steps.map(({ step }) => step),
      ['zeroShot', 'generated', 'debug1', 'debug2', 'debug3', 'clarified', 'final'],
    );
    assert.equal(steps.at(-1)?.passed, SCRIPT.filter(({ expected }) => expected.qualityFlow).length);
    assert.equal(steps[0]?.passed, SCRIPT.filter(({ expected }) => expected.zeroShot).length);
    const checker = report.checker as Record<string, number>;
    assert.equal(
      Object.values(checker).reduce((sum, count) => sum + count, 0),
      SCRIPT.length,
    );
  });

  it('shows every step of a problem', async () => {
    const { code, stdout } = await project.run('show', 'flow', 'mini/rotate-left', '--full');
    assert.equal(code, 0);
    for (const activity of [
      'generateProgram',
      'imagineExecution',
      'designTests',
      'judgeTest',
      'runPrograms',
      'debugProgram',
    ]) {
      assert.match(stdout, new RegExp(activity));
    }
  });

  it('resumes a complete sweep by doing nothing, and refuses its name for another', async () => {
    const resumed = await project.run('sweep', 'resume', 'zero');
    assert.equal(resumed.code, 0);
    assert.match(resumed.stderr, /complete/);
    const again = await project.run(
      'sweep',
      'run',
      '--benchmark',
      'mini',
      '--model',
      'scripted',
      '--strategy',
      'standard',
      '--name',
      'zero',
    );
    assert.equal(again.code, 2);
    assert.match(again.stderr, /in use/);
    assert.match(again.stderr, /strategy/);
  });

  it('selects among many programs, among more for the difference alone, and ranks what a sweep has again', async () => {
    const task = 'mini/second-largest';
    const spec = (name: string, strategy: object) => {
      const path = join(project.folder, `${name}.json`);
      const model = { name: 'scripted', endpoint: 'scripted' };
      writeFileSync(path, JSON.stringify({ name, benchmark: 'mini', tasks: [task, 'mini/bill'], strategy, model }));
      return path;
    };
    const tests = { queries: 2, perQuery: 10 };
    const path = spec('few', { kind: 'select', programs: 4, tests, method: 'codet', submit: 2 });
    const few = await project.json('sweep', 'run', path);
    assert.deepEqual(few.requests, { sent: 12, reused: 0, possiblyCharged: 0 });
    assert.partialDeepStrictEqual(few.selection, { kind: 'select', method: 'codet', ranked: 2, unranked: 0 });
    const more = await project.json('sweep', 'extend', 'few', '--programs', '10');
    assert.equal(more.sweep, 'few-10');
    assert.deepEqual(more.requests, { sent: 12, reused: 12, possiblyCharged: 0 });
    // The stored matrices, another method: nothing is run.
    const again = await project.json('select', '--sweep', 'few-10', '--no-grade', '--method', 'codet,srank');
    assert.deepEqual([again.tasks, Object.keys(again.rankings as object)], [2, [task, 'mini/bill']]);

    // A revert by the designed tests finds the right program that the checker rejected; a plain one submits the first, which is wrong.
    const byAces = await project.json('sweep', 'run', spec('by-aces', { preset: 'standard', onRevert: 'aces' }));
    assert.deepEqual(byAces.selection, { kind: 'revert', method: 'aces-o', reverted: 1, otherThanFirst: 1 });
    assert.equal((await outcomesOf(project.home, 'by-aces')).get(task)?.outcome, 'pass');
    assert.equal(SCRIPT.find(({ taskId }) => taskId === task)?.expected.qualityFlow, false);
  });

  it('pays nothing for a request whose reply is stored', async () => {
    const { code, stderr } = await project.run(
      'sweep',
      'run',
      '--benchmark',
      'mini',
      '--model',
      'scripted',
      '--strategy',
      'zero-shot',
      '--name',
      'zero-again',
    );
    assert.equal(code, 0, stderr);
    const report = await project.json('report', 'zero-again');
    assert.deepEqual(report.requests, { sent: 0, reused: 24, possiblyCharged: 0 });
  });

  it('keeps a key out of every file it writes, and uses it', async () => {
    const key = 'sk-not-to-be-found-4f1c';
    const seen: string[] = [];
    const model = await startScriptedModel();
    const front = createServer(async (request, response) => {
      seen.push(String(request.headers.authorization));
      const body = request.method === 'POST' ? await text(request) : null;
      const answer = await fetch(new URL(request.url ?? '', model.url), {
        method: request.method ?? 'GET',
        body,
        headers: { 'content-type': 'application/json' },
      });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
    });
    try {
      const env = { OPENAI_BASE_URL: `${await listen(front)}/v1`, OPENAI_API_KEY: key };
      const run = await project.runWith(
        env,
        'sweep',
        'run',
        '--benchmark',
        'mini',
        '--limit',
        '2',
        '--model',
        'scripted',
        '--strategy',
        'zero-shot',
        '--name',
        'keyed',
      );
      assert.equal(run.code, 0, run.stderr);
      assert.ok(seen.includes(`Bearer ${key}`));
      const files = filesBelow(project.home);
      assert.ok(files.length > 5);
      assert.deepEqual(
        files.filter((path) => readFileSync(path).includes(key)),
        [],
      );
      assert.ok(!`${run.stdout}${run.stderr}`.includes(key));
    } finally {
      front.closeAllConnections();
      front.close();
      await model.close();
    }
  });

  it('survives a killed worker: every problem ends, none twice', async () => {
    const dev = JSON.parse(readFileSync(join(project.home, 'dev.json'), 'utf8'));
    const pid = dev.processes.worker.pid;
    assert.equal(typeof pid, 'number');
    const running = project.run(
      'sweep',
      'run',
      '--benchmark',
      'mini',
      '--model',
      'scripted',
      '--strategy',
      'relaxed',
      '--name',
      'killed',
    );
    for (let waited = 0; waited < 60_000; waited += 200) {
      const rows = await outcomesOf(project.home, 'killed');
      if (rows.size > 0) break;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    process.kill(pid, 'SIGKILL');
    const { code, stderr } = await running;
    assert.equal(code, 0, stderr);
    const rows = await outcomesOf(project.home, 'killed');
    assert.equal(rows.size, SCRIPT.length);
    assert.ok([...rows.values()].every(({ run }) => run.attempt === 1));
  });

  it('leaves no container and no process behind', async () => {
    const { code } = await project.run('down');
    assert.equal(code, 0);
    const processes = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
    assert.ok(!processes.includes(project.home), 'a process of the project is still there');
  });
});
