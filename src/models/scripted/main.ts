import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { FaultPlan } from './faults.ts';
import { startScriptedModel } from './server.ts';

/**
 * The scripted model as a process of its own: `main.ts [--port N] [--latency-ms N] [--faults JSON|@FILE]`. The first line on standard
 * output is its base URL; SIGTERM and SIGINT end it. A running one is switched by `POST /faults`.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'latency-ms': { type: 'string', default: '0' },
    faults: { type: 'string', default: '[]' },
  },
});
const text = values.faults.startsWith('@') ? readFileSync(values.faults.slice(1), 'utf8') : values.faults;
const model = await startScriptedModel({
  port: Number(values.port),
  latencyMs: Number(values['latency-ms']),
  faults: FaultPlan.parse(JSON.parse(text)),
});
process.stdout.write(`${model.url}\n`);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void model.close());
