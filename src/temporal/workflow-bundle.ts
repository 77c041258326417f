import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleOption } from '@temporalio/worker';

let bundle: Promise<WorkflowBundleOption> | undefined;

/**
 * The code of all workflows, as a worker takes it: the file that an installed package brings along, or bundled from the sources,
 * once per process. Rejects on any warning of the bundler: each has meant code that behaves differently inside the sandbox.
 */
export function workflowBundle(): Promise<WorkflowBundleOption> {
  bundle ??= load();
  return bundle;
}

async function load(): Promise<WorkflowBundleOption> {
  const prebuilt = join(import.meta.dirname, '../workflow-bundle.js');
  if (import.meta.filename.endsWith('.js') && existsSync(prebuilt)) return { codePath: prebuilt };
  return { code: await buildWorkflowCode() };
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
