import { resolve } from 'node:path';
import type { Env } from '../connection.ts';

/** Variables of the user's shell that change what a worker does. The rest stays out: a window size must not restart a worker. */
const RELEVANT = [
  /^(OPENAI|QUALITYFLOW|TEMPORAL|DOCKER|AWS)_/,
  /_(API_KEY|BASE_URL)$/,
  /^(https?|all|no)_proxy$/i,
  /^(NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|XDG_RUNTIME_DIR)$/,
];

/** Where models are and the keys to them. */
export function isEndpointSetting(name: string): boolean {
  return /^OPENAI_|_(API_KEY|BASE_URL)$/.test(name) && !name.startsWith('TEMPORAL_');
}

/** What any child needs to run at all. */
const BASIC = /^(PATH|HOME|USER|LANG|LC_.*|TZ|TMPDIR|NODE_EXTRA_CA_CERTS)$/;

/** `extra` names further variables, such as those with the keys of configured endpoints. */
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
  return pick(env, (name) => BASIC.test(name));
}

function pick(env: Env, wanted: (name: string) => boolean): Record<string, string> {
  const names = Object.keys(env).filter(wanted).sort();
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
