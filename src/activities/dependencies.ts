import type { Client } from '@temporalio/client';
import type { ExpectedStore } from '../grading/expected-outputs.ts';
import type { Endpoint } from '../models/endpoints.ts';
import type { HiddenTests } from '../problems/hidden-tests.ts';
import type { Problem } from '../problems/problem.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Store } from '../store/store.ts';
import type { RequestEnd } from './adaptive-limit.ts';

/** A dataset as the activities use it: opened once a process, checked against the hash that the sweep was planned with. */
export interface Dataset {
  sha256: string;
  problem(taskId: string): Problem;
  hidden(taskId: string): HiddenTests;
}

/** Everything that reaches outside the process. Adapters are made once, in `worker-process.ts`, or by a test. */
export interface Dependencies {
  store: Store;
  /** Starts containers on first use. */
  sandbox(): Promise<Sandbox>;
  /** Where outputs of canonical solutions are kept. */
  expected?: ExpectedStore | undefined;
  dataset(benchmark: string): Promise<Dataset>;
  endpoint(alias: string): Endpoint;
  /** Told how each request has ended, so that an endpoint in trouble gets fewer at once. */
  reportRequest(alias: string, end: RequestEnd): void;
  client: Client;
}
