import { type AgentName, ROLES } from '../../agents/roles.ts';
import { type BundledTask, bundledTasks, type Example } from './bundled.ts';
import { SCRIPT } from './script/index.ts';
import type { ProblemScript, ScriptedTest } from './script/problem-script.ts';

/** A bundled problem with what the script says about it. */
export interface KnownTask extends BundledTask {
  script: ProblemScript;
  /** Every program by name, `canonical` among them. */
  programs: ReadonlyMap<string, string>;
}

export const KNOWN_TASKS: readonly KnownTask[] = bundledTasks().flatMap((task) => {
  const script = SCRIPT.find(({ taskId }) => taskId === task.taskId);
  if (script === undefined) return [];
  const written = Object.entries(script.programs ?? {}).map(([name, { code }]): [string, string] => [name, code]);
  return [{ ...task, script, programs: new Map([['canonical', task.canonical], ...written]) }];
});

/** The agent whose role the prompt begins with, in whatever message it stands. */
export function agentOf(text: string): AgentName | undefined {
  const found = Object.entries(ROLES).flatMap(([name, role]) => {
    const at = text.indexOf(role);
    return at < 0 || !isAgent(name) ? [] : [{ name, at }];
  });
  return found.sort((a, b) => a.at - b.at)[0]?.name;
}

function isAgent(name: string): name is AgentName {
  return Object.hasOwn(ROLES, name);
}

/**
 * The problem a prompt is about: the one whose statement it holds, else whose program it holds, else whose function it defines, else
 * the one whose function it calls.
 */
export function taskOf(text: string): KnownTask | undefined {
  const flat = flatten(text);
  const lines = trimLines(text);
  return (
    KNOWN_TASKS.find(({ statement, form }) => form === 'description' && flat.includes(flatten(statement))) ??
    KNOWN_TASKS.find((task) => programIn(lines, task) !== undefined) ??
    KNOWN_TASKS.find(({ entryPoint }) => entryPoint !== '' && text.includes(`def ${entryPoint}(`)) ??
    KNOWN_TASKS.find(({ entryPoint }) => entryPoint !== '' && new RegExp(`\\b${entryPoint}\\(`).test(text))
  );
}

/** Name of the script's program that the prompt shows; of several that contain each other, the longest. */
export function programOf(text: string, task: KnownTask): string | undefined {
  return programIn(trimLines(text), task);
}

function programIn(lines: string, { programs }: KnownTask): string | undefined {
  const shown = [...programs].filter(([, code]) => lines.includes(trimLines(code)));
  return shown.sort(([, a], [, b]) => b.length - a.length)[0]?.[0];
}

/** Index of the visible test that a question is: the same one, else the longest that `question` holds. */
export function exampleOf(question: string, examples: readonly Example[]): number | undefined {
  const flat = flatten(question);
  const asked = examples.map((example, index) => ({ index, asked: flatten(example.asked) }));
  const same = asked.find((example) => example.asked === flat);
  const held = asked.filter((example) => example.asked !== '' && flat.includes(example.asked));
  return (same ?? held.sort((a, b) => b.asked.length - a.asked.length)[0])?.index;
}

/** Whether the prompt shows this test. */
export function showsTest(text: string, test: ScriptedTest): boolean {
  const flat = flatten(text);
  if (typeof test === 'string') return flat.includes(flatten(test));
  return flat.includes(flatten(test.stdin)) && flat.includes(flatten(test.stdout));
}

/** White space apart, so that a prompt may wrap, indent or trim what it quotes. */
function flatten(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Lines of code without docstrings, which a base model's programs take over from the prompt, and without trailing space. */
function trimLines(text: string): string {
  return text
    .replace(/^ *"""[\s\S]*?"""\n/gm, '')
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .join('\n');
}
