import { resolve } from 'node:path';
import type { Env } from '../connection.ts';

/** Variables of the user's shell that change what a worker does. The rest stays out: a window size must not restart a worker. */
const RELEVANT = [
  /^(OPENAI|TEMPORAL|DOCKER|AWS)_/,
  // Not the home: the worker is told its path, which two shells may spell differently.
  /^QUALITYFLOW_(?!HOME$)/,
  /_(API_KEY|BASE_URL)$/,
  /^(https?|all|no)_proxy$/i,
  /^(NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR)$/,
];

/** What any process of ours needs to run at all. It differs from shell to shell and never decides what a worker does. */
const BASIC = /^(PATH|HOME|USER|LANG|LC_.*|TZ|TMPDIR|XDG_RUNTIME_DIR)$/;

/** `extra` names further variables, such as those with the keys of configured endpoints. An empty variable counts as unset. */
export function workerEnv({
  env,
  extra = [],
}: {
  env: Env;
  extra?: readonly string[] | undefined;
}): Record<string, string> {
  const chosen = pick(
    env,
    (name) => BASIC.test(name) || extra.includes(name) || RELEVANT.some((rule) => rule.test(name)),
  );
  // The worker runs in another folder than the command.
  if (chosen.QUALITYFLOW_DATA_DIR) chosen.QUALITYFLOW_DATA_DIR = resolve(chosen.QUALITYFLOW_DATA_DIR);
  return chosen;
}

export function basicEnv(env: Env): Record<string, string> {
  return pick(env, (name) => BASIC.test(name) || name === 'NODE_EXTRA_CA_CERTS');
}

/** Which cluster is meant. A command connects to it by itself, so command and worker must agree on it. */
export function temporalEnv(env: Env): Record<string, string> {
  return pick(env, isTemporal);
}

/** The environment without endpoints and the keys to them, for work that asks none. */
export function withoutEndpoints(env: Env): Record<string, string> {
  return pick(env, (name) => isTemporal(name) || !/^OPENAI_|_(API_KEY|BASE_URL)$/.test(name));
}

/**
 * What a worker that has `held` should have once a command with `given` comes, and the names of the settings that differ for it.
 * What the command does not set stays as it is: it may be a bare shell. Settings that belong together change together, so that the
 * key to one endpoint never goes to another. The cluster alone is a setting also where it is absent: that means the embedded one.
 */
export function mergeWorkerEnv({ held, given }: { held: Record<string, string>; given: Record<string, string> }): {
  env: Record<string, string>;
  changed: string[];
} {
  const names = [...new Set([...Object.keys(held), ...Object.keys(given)])].filter((name) => !BASIC.test(name)).sort();
  const changed = names.filter((name) => held[name] !== given[name] && (name in given || isTemporal(name)));
  if (changed.length === 0) return { env: held, changed };
  const groups = new Set(changed.map(groupOf));
  const kept = pick(held, (name) => !BASIC.test(name) && !groups.has(groupOf(name)));
  return { env: { ...kept, ...given }, changed };
}

function isTemporal(name: string): boolean {
  return name.startsWith('TEMPORAL_');
}

/** `OPENAI` for its URL and key, `DOCKER` for the host and its certificates; what stands alone is its own group. */
function groupOf(name: string): string {
  return /^(OPENAI|TEMPORAL|DOCKER|AWS)(?=_)/.exec(name)?.[0] ?? name.replace(/_(API_KEY|BASE_URL)$/, '');
}

function pick(env: Env, wanted: (name: string) => boolean): Record<string, string> {
  const names = Object.keys(env).filter(wanted).sort();
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}
