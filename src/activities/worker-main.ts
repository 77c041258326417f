/** The worker process of the embedded default: all roles. Its argument is JSON; its environment holds the endpoints' keys. */
import { z } from 'zod';
import { installRuntime, ROLES } from '../temporal/worker.ts';
import { startWorkerProcess } from './worker-process.ts';

const Input = z.object({ home: z.string(), address: z.string(), namespace: z.string(), scriptedUrl: z.string() });

/** The supervisor keeps standard error as the worker's log. */
const log = (line: string) => void process.stderr.write(`${line}\n`);

const input = Input.parse(JSON.parse(process.argv[2] ?? ''));
installRuntime({ level: 'INFO', write: log });
const workers = await startWorkerProcess({ ...input, roles: ROLES, env: process.env, log });
// The supervisor waits for this line.
console.log('ready');
await workers.finished;
