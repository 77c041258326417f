import { parseArgs } from 'node:util';
import { startScriptedModel } from './server.ts';

/**
 * The scripted model as a process of its own: `main.ts [--port N] [--latency-ms N]`. The first line on standard output is its base
 * URL; SIGTERM and SIGINT end it.
 */
const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, 'latency-ms': { type: 'string', default: '0' } },
});
const model = await startScriptedModel({ port: Number(values.port), latencyMs: Number(values['latency-ms']) });
process.stdout.write(`${model.url}\n`);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void model.close());
