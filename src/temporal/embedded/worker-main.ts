/** The worker process of the embedded default: all roles. Its argument is JSON; its environment holds the endpoints' keys. */
import { z } from 'zod';
import { startWorkerProcess } from '../../activities/worker-process.ts';
import { ROLES } from '../worker.ts';

const Input = z.object({ home: z.string(), address: z.string(), namespace: z.string(), scriptedUrl: z.string() });

const { home, address, namespace, scriptedUrl } = Input.parse(JSON.parse(process.argv[2] ?? ''));
const workers = await startWorkerProcess({ roles: ROLES, env: process.env, home, address, namespace, scriptedUrl });
// The supervisor waits for this line.
console.log('ready');
await workers.finished;
