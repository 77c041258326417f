import { createHash } from 'node:crypto';
import { canonicalJson } from '../models/canonical-json.ts';
import type { JsonValue } from '../models/model.ts';
import type { SandboxFingerprint } from '../sandbox/sandbox.ts';
import type { Strategy, SweepSpec } from './spec.ts';

/** What a sweep's results depend on besides its spec. */
export interface Surroundings {
  datasetSha256: string;
  /** Prompt version by agent; an improved prompt is another experiment. */
  promptVersions: Record<string, string>;
  fingerprint: Pick<SandboxFingerprint, 'python' | 'numpy' | 'runnerSha256'>;
  /** Base URL without credentials, or `scripted`: an alias may come to mean another endpoint. */
  endpointIdentity: string;
}

export type Identity = { [key: string]: JsonValue };

/**
 * Everything that changes a sweep's results, and the sha256 of its canonical JSON. Two sweeps of one hash may share a name and be
 * resumed as each other. The sweep's name, concurrency, budget, prices and waiting times are operational and left out; an own benchmark counts by
 * its content, not by its path.
 */
export function specIdentity(spec: SweepSpec, surroundings: Surroundings): { hash: string; identity: Identity } {
  const { model } = spec;
  const identity = toJson({
    benchmark: {
      name: /[/\\]|\.jsonl/.test(spec.benchmark) ? 'own file' : spec.benchmark,
      sha256: surroundings.datasetSha256,
    },
    tasks: spec.tasks ?? 'all',
    shuffle: spec.shuffle ?? 'none',
    limit: spec.limit ?? 'none',
    samples: spec.samples,
    seed: spec.seed,
    strategy: identityOfStrategy(spec.strategy),
    model: {
      name: model.name,
      endpoint: surroundings.endpointIdentity,
      api: model.api,
      parameters: model.parameters,
      extraBody: model.extraBody,
      maxTokens: model.maxTokens,
      contextTokens: model.contextTokens ?? 'undeclared',
    },
    prompts: surroundings.promptVersions,
    sandbox: {
      python: surroundings.fingerprint.python,
      numpy: surroundings.fingerprint.numpy,
      runnerSha256: surroundings.fingerprint.runnerSha256,
    },
  });
  return { hash: createHash('sha256').update(canonicalJson(identity)).digest('hex'), identity };
}

/** An option that came later is left out at its default: specs of before, which do not know it, are the same sweeps. */
function identityOfStrategy(strategy: Strategy): Record<string, unknown> {
  if (strategy.kind !== 'quality-flow' || strategy.onRevert !== 'first') return { ...strategy };
  const { onRevert: _first, ...rest } = strategy;
  return rest;
}

/** One difference between two identities; `absent` where one side lacks the field. */
export interface IdentityDifference {
  path: string;
  before: string;
  after: string;
}

/** The fields in which two identities differ, sorted by path. */
export function diffIdentity(before: Identity, after: Identity): IdentityDifference[] {
  const left = flatten(before);
  const right = flatten(after);
  return [...new Set([...left.keys(), ...right.keys()])]
    .toSorted()
    .filter((path) => left.get(path) !== right.get(path))
    .map((path) => ({ path, before: left.get(path) ?? 'absent', after: right.get(path) ?? 'absent' }));
}

function flatten(value: JsonValue, path = '', into = new Map<string, string>()): Map<string, string> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [key, inner] of Object.entries(value)) flatten(inner, path === '' ? key : `${path}.${key}`, into);
  } else {
    into.set(path, canonicalJson(value));
  }
  return into;
}

/** Drops fields that are undefined, at every level. */
function toJson(value: Record<string, unknown>): Identity {
  return JSON.parse(JSON.stringify(value));
}
