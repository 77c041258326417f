/** Where requests go: aliases of configuration, the environment's default, or a literal URL. */

/** Configured aliases. `keyEnv` names the environment variable that holds the key; the key itself is never configuration. */
export type EndpointConfig = Record<string, { baseURL: string; keyEnv?: string | undefined }>;

export interface Endpoint {
  /** The alias, or the literal base URL, as the spec has it. */
  alias: string;
  /** Undefined only for the scripted model as long as nobody has started it. */
  baseURL: string | undefined;
  /** Undefined: local servers ask for none, and get the placeholder `none`. */
  apiKey: string | undefined;
  /** Environment variable the key is expected in, for messages. */
  keyEnv: string | undefined;
  /** Base URL without credentials and query, or `scripted`; part of every reply's key. */
  identity: string;
  /** True when the offline scripted model answers: its numbers must be labelled. */
  scripted: boolean;
}

/** The spec's or environment's endpoint cannot be used; `remedy` says what to do. */
export class EndpointError extends Error {
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.name = 'EndpointError';
    this.remedy = remedy;
  }
}

const OPENAI = 'https://api.openai.com/v1';

/**
 * `default` = OPENAI_BASE_URL and OPENAI_API_KEY; with neither set, the scripted offline model. `scripted` is always the scripted
 * model. A literal http(s) URL never receives a key of the environment. Throws `EndpointError`.
 */
export function resolveEndpoint({
  endpoint,
  env,
  configured = {},
  scriptedUrl,
}: {
  endpoint: string;
  env: Readonly<Record<string, string | undefined>>;
  configured?: EndpointConfig | undefined;
  scriptedUrl?: string | undefined;
}): Endpoint {
  if (endpoint === 'scripted') return scriptedEndpoint(endpoint, scriptedUrl);
  if (/^https?:\/\//i.test(endpoint)) {
    return {
      ...location(endpoint, 'the spec'),
      alias: endpoint,
      apiKey: undefined,
      keyEnv: undefined,
      scripted: false,
    };
  }
  const entry = Object.hasOwn(configured, endpoint) ? configured[endpoint] : undefined;
  if (entry !== undefined) {
    const apiKey = entry.keyEnv === undefined ? undefined : setting(env, entry.keyEnv);
    const place = location(entry.baseURL, `the endpoint ${endpoint}`);
    return { ...place, alias: endpoint, apiKey, keyEnv: entry.keyEnv, scripted: false };
  }
  if (endpoint !== 'default') {
    const known = ['default', 'scripted', ...Object.keys(configured)].join(', ');
    throw new EndpointError(
      `no endpoint is called "${endpoint}"`,
      `use one of ${known}, or a URL that begins with http:// or https://`,
    );
  }
  const baseURL = setting(env, 'OPENAI_BASE_URL');
  const apiKey = setting(env, 'OPENAI_API_KEY');
  if (baseURL === undefined && apiKey === undefined) return scriptedEndpoint(endpoint, scriptedUrl);
  const place = location(baseURL ?? OPENAI, 'OPENAI_BASE_URL');
  return { ...place, alias: endpoint, apiKey, keyEnv: 'OPENAI_API_KEY', scripted: false };
}

function scriptedEndpoint(alias: string, baseURL: string | undefined): Endpoint {
  return { alias, baseURL, apiKey: undefined, keyEnv: undefined, identity: 'scripted', scripted: true };
}

/** An empty variable counts as unset; a key pasted with its line break is meant without it. */
function setting(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === undefined || value === '' ? undefined : value;
}

function location(text: string, source: string): { baseURL: string; identity: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new EndpointError(`the base URL of ${source} is not an http(s) URL`, 'give it like http://localhost:8080/v1');
  }
  if (url.username !== '' || url.password !== '') {
    throw new EndpointError(
      `the base URL of ${source} holds credentials`,
      'put the key into an environment variable and name it in the configuration',
    );
  }
  url.hash = '';
  const path = url.pathname.replace(/\/+$/, '');
  return { baseURL: `${url.origin}${path}${url.search}`, identity: `${url.origin}${path}` };
}
