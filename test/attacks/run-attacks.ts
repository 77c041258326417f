import { performance } from 'node:perf_hooks';
import type { Graded } from '../../src/grading/verdict.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { call } from '../../src/sandbox/testing.ts';
import type { Attack, AttackTask } from './attack.ts';
import { ATTACK_LIMITS, gradeOn, TASKS } from './tasks.ts';

const HUNG_MS = 20_000;

export interface AttackResult {
  programs: number;
  /** Passed although they do not do their task, and nothing said that the verdict may be forged. */
  forged: number;
  /** Held their grader up for too long, twice. */
  hung: number;
  /** Processes seen by the next program on the same slot. */
  survivors: number;
  /** Next programs on the same slot that were right and not graded so, or found files; right programs of the tasks that did not pass. */
  canaryFailures: number;
  /** Turned themselves into a failure of the infrastructure or of the tests, which would not count as wrong. */
  infra: number;
}

export const held = ({ forged, hung, survivors, canaryFailures, infra }: AttackResult): boolean =>
  forged + hung + survivors + canaryFailures + infra === 0;

/**
 * Grades every attack and, after each, a right program on the same slots: `lanes` are sandboxes of one slot each, used side by side.
 * `note` is told each finding in a line.
 */
export async function runAttacks(options: {
  lanes: Sandbox[];
  attacks: Record<string, Attack[]>;
  grade?: (sandbox: Sandbox, task: AttackTask, source: string) => Promise<Graded[]>;
  /** What is too long, in ms: 20 s where nothing else runs. */
  hungMs?: number;
  note: (line: string) => void;
}): Promise<AttackResult> {
  const { lanes, attacks, grade = gradeOn, hungMs = HUNG_MS, note } = options;
  const result: AttackResult = { programs: 0, forged: 0, hung: 0, survivors: 0, canaryFailures: 0, infra: 0 };
  for (const [task, { right }] of Object.entries(TASKS) as [AttackTask, { right: string }][]) {
    for (const lane of lanes) await expectPass(lane, task, right, 'before the first attack');
  }

  const queue = Object.entries(attacks).flatMap(([kind, list]) => list.map((attack) => ({ kind, attack })));
  await Promise.all(
    lanes.map(async (lane) => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) await attackOne(lane, next);
    }),
  );
  return result;

  async function attackOne(lane: Sandbox, { kind, attack }: { kind: string; attack: Attack }): Promise<void> {
    const name = `${kind}: ${attack.name}`;
    result.programs++;
    // What a right program, and the grading of it, left behind is what there is to be found.
    if (attack.task === 'secret') await expectPass(lane, 'secret', TASKS.secret.right, `before ${name}`);
    if ((await gradedWithin(lane, attack, name)) || (await gradedWithin(lane, attack, name))) return;
    result.hung++;
    note(`took more than ${hungMs / 1000} s, twice: ${name}`);
  }

  /** Whether the grader was done in time. Twice is hung: once may be the machine. */
  async function gradedWithin(lane: Sandbox, attack: Attack, name: string): Promise<boolean> {
    const started = performance.now();
    try {
      for (const graded of await grade(lane, attack.task, attack.source)) {
        if (graded.verdict === 'pass' && graded.forgeable !== true) {
          result.forged++;
          note(`forged a pass: ${name}`);
        } else if (graded.verdict === 'invalid_test') {
          result.infra++;
          note(`blamed the tests: ${name}`);
        }
      }
    } catch (error) {
      result.infra++;
      note(`became infrastructure: ${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
    const ms = performance.now() - started;
    await canary(lane, name);
    return ms <= hungMs;
  }

  async function canary(lane: Sandbox, name: string): Promise<void> {
    const source =
      'import os\ndef f(x):\n  seen = [int(p) for p in os.listdir("/proc") if p.isdigit() and int(p) not in (1, os.getpid())]\n  return [x * x + 7, len(seen), len(os.listdir("/tmp"))]';
    const [rows] = await lane.runCalls({
      programs: [{ source, entryPoint: 'f' }],
      calls: [call('3')],
      limits: ATTACK_LIMITS,
    });
    const [row] = rows ?? [];
    const [value, processes, files] = row?.kind === 'value' ? (JSON.parse(row.value) as number[]) : [];
    if (value !== 16 || files !== 0) {
      result.canaryFailures++;
      note(`the next program saw ${JSON.stringify(row)}: ${name}`);
    }
    if (processes !== undefined && processes > 0) {
      result.survivors += processes;
      note(`${processes} processes survived: ${name}`);
    }
    await expectPass(lane, 'square', TASKS.square.right, name);
  }

  async function expectPass(lane: Sandbox, task: AttackTask, right: string, name: string): Promise<void> {
    for (const graded of await gradeOn(lane, task, right)) {
      if (graded.verdict === 'pass') continue;
      result.canaryFailures++;
      note(`a right program got ${graded.verdict} (${JSON.stringify(graded.firstFailure)}): ${name}`);
    }
  }
}
