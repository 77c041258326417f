import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleOption } from '@temporalio/worker';
import { buildId } from './embedded/build-id.ts';
import { writeFileAtomically } from './embedded/write-file.ts';

let bundle: Promise<WorkflowBundleOption> | undefined;

/**
 * The code of all workflows, as a worker takes it: the file that an installed package brings along, or bundled from the sources,
 * once per process. With a `cacheFolder`, what was bundled from these very sources is kept there: bundling is most of a worker's start,
 * and after a kill all its problems wait for that. Rejects on any warning of the bundler: each has meant code that behaves differently
 * inside the sandbox.
 */
export function workflowBundle(cacheFolder?: string): Promise<WorkflowBundleOption> {
  bundle ??= load(cacheFolder);
  return bundle;
}

async function load(cacheFolder: string | undefined): Promise<WorkflowBundleOption> {
  const prebuilt = join(import.meta.dirname, '../workflow-bundle.js');
  if (import.meta.filename.endsWith('.js') && existsSync(prebuilt)) return { codePath: prebuilt };
  if (cacheFolder === undefined) return { code: await buildWorkflowCode() };
  return { code: await keptCode(cacheFolder, buildWorkflowCode) };
}

/** Of this build, as it lies in the folder, or else built and put there. */
export async function keptCode(folder: string, build: () => Promise<string>): Promise<string> {
  return readKept(folder) ?? keep(folder, await build());
}

/** A file's name tells build and content, so that a torn one is not taken. */
const nameOf = (code: string) =>
  `workflows-${buildId()}-${createHash('sha256').update(code).digest('hex').slice(0, 12)}.js`;

function keptIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => /^workflows-.*\.js$/.test(name)) : [];
}

function readKept(folder: string): string | undefined {
  const name = keptIn(folder).find((one) => one.startsWith(`workflows-${buildId()}-`));
  if (name === undefined) return undefined;
  const code = readFileSync(join(folder, name), 'utf8');
  return nameOf(code) === name ? code : undefined;
}

/** In place of those of other builds. */
function keep(folder: string, code: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of keptIn(folder)) rmSync(join(folder, name), { force: true });
  writeFileAtomically(join(folder, nameOf(code)), code);
  return code;
}

/** Bundles `src/workflows/index.ts` and returns the code with its inline source map. */
export async function buildWorkflowCode(): Promise<string> {
  const complaints: string[] = [];
  const logger = new DefaultLogger('INFO', ({ level, message }) => {
    if (level === 'WARN' || level === 'ERROR' || /\bWARNING in\b/.test(message)) complaints.push(message);
  });
  const workflowsPath = join(import.meta.dirname, '../workflows/index.ts');
  try {
    const { code } = await bundleWorkflowCode({ workflowsPath, logger });
    if (complaints.length === 0) return code;
  } catch (error) {
    throw new Error(`the workflows cannot be bundled: ${[...complaints, String(error)].join('\n')}`, { cause: error });
  }
  throw new Error(`the workflow bundler warns: ${complaints.join('\n')}`);
}
