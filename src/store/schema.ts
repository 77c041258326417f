/**
 * Tables as Kysely sees them. Structured values are JSON text: `JSON.stringify` escapes lone surrogates and NUL, so any text of a
 * model or a candidate comes back exactly as it went in, on SQLite and on Postgres. Flags are 0 or 1, times ISO 8601.
 */
export interface Schema {
  sweeps: {
    name: string;
    spec: string;
    spec_hash: string;
    dataset_sha256: string;
    scripted: number;
    endpoint_identity: string;
    samples: number;
    planned: number;
    state: string;
    state_reason: string;
    created_at: string;
    updated_at: string;
  };
  /** Task ids in planned order. */
  sweep_tasks: { sweep: string; task_index: number; task_id: string };
  outcomes: {
    sweep: string;
    task_id: string;
    sample: number;
    attempt: number;
    outcome: string;
    final: number;
    detail: string;
    final_step: string;
    tokens: number;
    requests: number;
    trail: string;
    submission: number | null;
    fingerprint: string | null;
    recorded_at: string;
  };
  replies: {
    reply_key: string;
    request: string;
    reply: string;
    prompt_tokens: number | null;
    completion_tokens: number | null;
    /** The step that sent the request (JSON of its primary key): the first one recorded with this reply. */
    sender: string | null;
    created_at: string;
  };
  /** What a sweep has used, by the state of its reservations (`charged`: possibly), and its caps; null where there is none. */
  ledgers: {
    sweep: string;
    cap_tokens: number | null;
    cap_micro_usd: number | null;
    settled_tokens: number;
    settled_micro_usd: number;
    open_tokens: number;
    open_micro_usd: number;
    charged_tokens: number;
    charged_micro_usd: number;
    charged_requests: number;
  };
  /** One request on a sweep's account. `settled_*` is its real cost, null until it is known. */
  reservations: {
    id: string;
    sweep: string;
    task_id: string;
    sample: number;
    step: string;
    attempt: string;
    request_key: string;
    state: 'open' | 'settled' | 'released' | 'possibly_charged';
    bound_tokens: number;
    bound_micro_usd: number;
    settled_tokens: number | null;
    settled_micro_usd: number | null;
    created_at: string;
    updated_at: string;
  };
  /** `reply_key` is '' where no reply was involved; it is part of the key, so that one step may hold several requests. */
  steps: {
    sweep: string;
    task_id: string;
    sample: number;
    attempt: number;
    step: string;
    reply_key: string;
    activity: string;
    reused: number;
    result: string;
    started_at: string;
    duration_ms: number;
  };
}
