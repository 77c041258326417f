import type { Attack } from '../attack.ts';
import { equality } from './equality.ts';
import { files } from './files.ts';
import { hunting } from './hunting.ts';
import { judges } from './judges.ts';
import { leaving } from './leaving.ts';
import { patching } from './patching.ts';
import { pipe } from './pipe.ts';
import { processes } from './processes.ts';
import { resources } from './resources.ts';
import { inProcess, scripts } from './scripts.ts';

/** By class of attack. */
export const ATTACKS: Record<string, Attack[]> = {
  equality,
  leaving,
  pipe,
  patching,
  processes,
  resources,
  files,
  hunting,
  judges,
  scripts,
  'in-process': inProcess,
};
