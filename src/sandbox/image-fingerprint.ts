import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { z } from 'zod';
import { createDockerSandbox } from './docker-sandbox.ts';
import { chosenRuntime } from './runtime.ts';
import type { SandboxFingerprint } from './sandbox.ts';

/**
 * What a sandbox of this image is. An image never changes, so one container's word holds for all of them: only the first to ask in a state
 * folder starts one. Throws `SandboxError`.
 */
export function imageFingerprint(options: {
  docker: Docker;
  imageId: string;
  home: string;
  env: Record<string, string | undefined>;
  log: (line: string) => void;
}): Promise<SandboxFingerprint> {
  const { docker, imageId, home, env, log } = options;
  return keptFingerprint({
    folder: join(home, 'cache', 'sandbox'),
    imageId,
    async ask() {
      const runtime = await chosenRuntime({ docker, env });
      const sandbox = await createDockerSandbox({ docker, imageId, runtime, slots: 1, log });
      try {
        return await sandbox.fingerprint();
      } finally {
        await sandbox.close();
      }
    },
  });
}

const shape: z.ZodType<SandboxFingerprint> = z.object({
  python: z.string(),
  numpy: z.string(),
  runnerSha256: z.string(),
  imageId: z.string(),
});

/** `ask`ed once and kept in `folder`; where that cannot be written, the next one asks again. */
export async function keptFingerprint(options: {
  folder: string;
  imageId: string;
  ask: () => Promise<SandboxFingerprint>;
}): Promise<SandboxFingerprint> {
  const { folder, imageId, ask } = options;
  const path = join(folder, `${imageId.replaceAll(/[^\w.-]/g, '-')}.json`);
  const kept = await readKept(path);
  if (kept?.imageId === imageId) return kept;
  const told = await ask();
  const unfinished = `${path}.${randomUUID()}.tmp`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(unfinished, JSON.stringify(told), { mode: 0o600 });
    await rename(unfinished, path);
  } catch {
    await rm(unfinished, { force: true }).catch(() => undefined);
  }
  return told;
}

async function readKept(path: string): Promise<SandboxFingerprint | undefined> {
  try {
    return shape.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return undefined;
  }
}
