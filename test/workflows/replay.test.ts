import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { buildWorkflowCode, workflowBundle } from '../../src/temporal/workflow-bundle.ts';
import { quietRuntime } from '../support/temporal.ts';

quietRuntime();

const folder = join(import.meta.dirname, '../histories');
const files = readdirSync(folder).filter((name) => name.endsWith('.json'));

/** Recorded with `QUALITYFLOW_RECORD_HISTORIES=1 node --test test/workflows/sweep.test.ts test/workflows/control.test.ts`, when a workflow changes on purpose. */
describe('recorded histories', { timeout: 60_000 }, () => {
  it('exist for every workflow type, and for every way in which one waits, is held or is ended', () => {
    assert.deepEqual(files.sort(), [
      'runSweep-after-termination.json',
      'runSweep-cancelled.json',
      'runSweep-shard-stopped.json',
      'runSweep.json',
      'runSweepShard-cancelled.json',
      'runSweepShard-problems-stopped.json',
      'runSweepShard-waits.json',
      'runSweepShard.json',
      'solveProblem-asked-again.json',
      'solveProblem-blocked.json',
      'solveProblem-cancelled.json',
      'solveProblem-paced.json',
      'solveProblem-paused-cancelled.json',
      'solveProblem-paused.json',
      'solveProblem-quality-flow.json',
      'solveProblem-revert-by-aces.json',
      'solveProblem-select-nothing.json',
      'solveProblem-select.json',
      'solveProblem-waits-too-long.json',
      'solveProblem-zero-shot.json',
    ]);
  });

  for (const file of files) {
    it(`${file} replays`, async () => {
      await Worker.runReplayHistory({ workflowBundle: await workflowBundle() }, historyOf(file), workflowIdOf(file));
    });
  }

  it('do not replay when a step is missing', async () => {
    const history = historyOf('solveProblem-quality-flow.json');
    const scheduled = history.events?.find(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'designTests',
    );
    assert.ok(scheduled?.activityTaskScheduledEventAttributes?.activityType);
    scheduled.activityTaskScheduledEventAttributes.activityType.name = 'judgeTest';
    await assert.rejects(
      Worker.runReplayHistory(
        { workflowBundle: await workflowBundle() },
        history,
        workflowIdOf('solveProblem-quality-flow.json'),
      ),
      DeterminismViolationError,
    );
  });
});

describe('the workflow bundle', { timeout: 60_000 }, () => {
  it('stays below 2 MB and holds neither zod nor a Node built-in nor activity code', async () => {
    const code = await buildWorkflowCode();
    assert.ok(code.length < 2_000_000, `${code.length} bytes`);
    const modules = [...code.matchAll(/^\s*\/\*\*\*\/ "([^"]+)"/gm)].map((match) => match[1] ?? '');
    assert.ok(modules.length > 20, 'the bundle lists its modules');
    const foreign = modules.filter((name) =>
      /\/zod\/|openai|dockerode|kysely|^node:|src\/(activities|models|sandbox|store|agents|problems|grading|spec)\//.test(
        name,
      ),
    );
    assert.deepEqual(foreign, []);
  });
});

function historyOf(file: string) {
  return historyFromJSON(JSON.parse(readFileSync(join(folder, file), 'utf8')));
}

function workflowIdOf(file: string): string {
  const [started] = historyOf(file).events ?? [];
  return started?.workflowExecutionStartedEventAttributes?.workflowId ?? '';
}
