/** `qualityflow setup`: everything that the embedded default needs, once. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { connectDocker } from '../sandbox/docker-engine.ts';
import { ensureSandboxImage } from '../sandbox/image.ts';
import { imageFingerprint } from '../sandbox/image-fingerprint.ts';
import { type Env, externalTemporal } from '../temporal/connection.ts';
import { bundleFolder, prepareHome } from '../temporal/embedded/home.ts';
import { takeLock } from '../temporal/embedded/system-lock.ts';
import { ensureTemporalBinary, TEMPORAL_VERSION } from '../temporal/embedded/temporal-binary.ts';
import { keptBundle, prebuiltBundle } from '../temporal/kept-bundle.ts';
import { ensureDocker } from './docker.ts';
import type { StepResult } from './step.ts';
import { canInstallPackages, installPackages } from './system-packages.ts';

export const STEPS = ['temporal', 'docker', 'image', 'workflows'] as const;
export type StepName = (typeof STEPS)[number];

export interface SetupOptions {
  home: string;
  /** Do to the system what is needed without asking; CI=true says the same. */
  yes: boolean;
  log: (line: string) => void;
  env?: Env | undefined;
  only?: readonly StepName[] | undefined;
}

export interface SetupReport {
  ok: boolean;
  steps: (StepResult & { name: StepName })[];
}

interface StepContext {
  home: string;
  env: Env;
  log: (line: string) => void;
  allow: (text: string) => Promise<boolean>;
}

const RUN: Record<StepName, (context: StepContext) => Promise<StepResult>> = {
  temporal,
  docker: ensureDocker,
  image,
  workflows,
};

/**
 * Runs the steps in order, each of which finds out what is there and does the rest; what was interrupted is taken up by the next call.
 * A step that fails skips those that need it. Never throws for what the environment lacks: the report says it. One at a time in a home.
 */
export async function runSetup({
  home: folder,
  yes,
  log,
  env = process.env,
  only = STEPS,
}: SetupOptions): Promise<SetupReport> {
  const home = prepareHome(folder);
  const lock = await waitForLock(join(home, 'setup.lock'), log);
  const context: StepContext = {
    home,
    env,
    log: (line) => log(`  ${line}`),
    allow: (text) => (yes || env.CI === 'true' ? told(text, log) : ask(text)),
  };
  const steps: SetupReport['steps'] = [];
  try {
    for (const name of STEPS.filter((step) => only.includes(step))) {
      const dockerFailed = steps.some((step) => step.name === 'docker' && step.state === 'failed');
      const result: StepResult =
        name === 'image' && dockerFailed ? { state: 'skipped', did: 'needs Docker' } : await attempt(name, context);
      steps.push({ name, ...result });
      log(`${name}: ${result.did}${result.remedy === undefined ? '' : ` ${result.remedy}`}`);
    }
  } finally {
    lock.release();
  }
  return { ok: steps.every(({ state }) => state === 'already' || state === 'done'), steps };
}

async function attempt(name: StepName, context: StepContext): Promise<StepResult> {
  try {
    return await RUN[name](context);
  } catch (error) {
    const remedy =
      error instanceof Error && 'remedy' in error && typeof error.remedy === 'string' ? error.remedy : undefined;
    return { state: 'failed', did: error instanceof Error ? error.message : String(error), remedy };
  }
}

async function temporal({ home, env, log }: StepContext): Promise<StepResult> {
  const external = externalTemporal(env);
  if (external !== undefined) {
    return {
      state: 'already',
      did: `the cluster at ${external.connectionOptions.address}, namespace ${external.namespace}`,
    };
  }
  const { version, source, path } = await ensureTemporalBinary({ home, env, log });
  const other = version === TEMPORAL_VERSION ? '' : ` (tested with ${TEMPORAL_VERSION})`;
  const found = source === 'PATH' || source === 'cache';
  return {
    state: found ? 'already' : 'done',
    did: found ? `${version}${other} at ${path}` : `${version} by ${source}, at ${path}`,
  };
}

async function image(context: StepContext): Promise<StepResult> {
  const { home, env, log, allow } = context;
  const make = () => ensureSandboxImage({ docker: connectDocker({ env }), home, log });
  let made: Awaited<ReturnType<typeof make>>;
  try {
    made = await make();
  } catch (error) {
    // Without an image registry the image is made from Debian packages, which takes one tool more.
    if (!canInstallPackages() || hasMmdebstrap()) throw error;
    if (!(await allow('install the system package mmdebstrap'))) throw error;
    await installPackages({ packages: ['mmdebstrap'], log });
    made = await make();
  }
  const { imageId, how } = made;
  const { python, numpy } = await imageFingerprint({ docker: connectDocker({ env }), imageId, home, env, log });
  return {
    state: how.startsWith('already') ? 'already' : 'done',
    did: `${imageId.slice(0, 19)}, Python ${python}, numpy ${numpy}, ${how}`,
  };
}

async function workflows({ home }: StepContext): Promise<StepResult> {
  if (prebuiltBundle() !== undefined) return { state: 'already', did: 'bundled with the package' };
  const folder = bundleFolder(home);
  if (keptBundle(folder) !== undefined) return { state: 'already', did: 'bundled' };
  // Loads a worker, which takes a third of a second.
  const { workflowBundle } = await import('../temporal/workflow-bundle.ts');
  await workflowBundle(folder);
  return { state: 'done', did: 'bundled' };
}

function hasMmdebstrap(): boolean {
  return existsSync('/usr/bin/mmdebstrap');
}

async function told(text: string, log: (line: string) => void): Promise<boolean> {
  log(`  going to ${text}`);
  return true;
}

/** Without a terminal nobody can agree. */
async function ask(text: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const reply = await terminal.question(`Set-up would ${text}. Go ahead? [y/N] `);
    return /^y(es)?$/i.test(reply.trim());
  } finally {
    terminal.close();
  }
}

async function waitForLock(path: string, log: (line: string) => void) {
  for (let said = false; ; said = true) {
    const lock = takeLock(path);
    if (lock !== undefined) return lock;
    if (!said) log('Waiting for another set-up …');
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}
