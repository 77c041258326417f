/**
 * A model that solves HumanEval, as a process of its own for both sides of a comparison: answers each request with the canonical solution of
 * the task whose prompt it holds. `canonical-main.ts --latency-ms N`; the first line on standard output is its base URL, SIGTERM ends it.
 */
import { parseArgs } from 'node:util';
import { startScriptedModel } from '../src/models/scripted/server.ts';
import { openBenchmark } from '../src/problems/benchmark.ts';
import { openHiddenTests } from '../src/problems/hidden.ts';
import { humanEvalSource } from './human-eval.ts';

interface Solved {
  prompt: string;
  program: string;
}

const { values } = parseArgs({ options: { 'latency-ms': { type: 'string', default: '0' } } });
const byName = await solutions();
const model = await startScriptedModel({
  latencyMs: Number(values['latency-ms']),
  script: (messages) => answer(messages.map(({ content }) => content).join('\n\n')),
});
process.stdout.write(`${model.url}\n`);
process.once('SIGTERM', () => void model.close());

async function solutions(): Promise<Map<string, Solved[]>> {
  const source = humanEvalSource();
  const [open, sealed] = await Promise.all([openBenchmark(source), openHiddenTests(source)]);
  const all = open.taskIds.map((taskId) => {
    const { entryPoint, statement } = open.problem(taskId);
    return { name: entryPoint, prompt: statement.trim(), program: sealed.hidden(taskId).canonical };
  });
  return Map.groupBy(all, ({ name }) => name);
}

/** Prompts name other functions too, and several tasks share a name: the longest prompt that the text holds is meant. */
function answer(text: string): string {
  const names = new Set(Array.from(text.matchAll(/\bdef (\w+)\s*\(/g), ([, name = '']) => name));
  const [meant] = [...names]
    .flatMap((name) => byName.get(name) ?? [])
    .filter(({ prompt }) => text.includes(prompt))
    .sort((a, b) => b.prompt.length - a.prompt.length);
  if (meant === undefined) throw new Error('the request holds the prompt of no HumanEval task');
  return `\`\`\`python\n${meant.program}\n\`\`\`\n`;
}
