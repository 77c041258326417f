import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleOption } from '@temporalio/worker';
import { keepBundle, keptBundle, prebuiltBundle } from './kept-bundle.ts';

let bundle: Promise<WorkflowBundleOption> | undefined;

/**
 * The code of all workflows, as a worker takes it: the file that an installed package brings along, else what `folder` keeps of these
 * sources, else bundled from them and kept there; once per process. Rejects on any warning of the bundler: each has meant code that
 * behaves differently inside the sandbox.
 */
export function workflowBundle(folder?: string): Promise<WorkflowBundleOption> {
  bundle ??= load(folder);
  return bundle;
}

async function load(folder: string | undefined): Promise<WorkflowBundleOption> {
  const prebuilt = prebuiltBundle();
  if (prebuilt !== undefined) return { codePath: prebuilt };
  if (folder === undefined) return { code: await buildWorkflowCode() };
  const kept = keptBundle(folder);
  if (kept !== undefined) return { code: kept };
  const code = await buildWorkflowCode();
  keepBundle(folder, code);
  return { code };
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
