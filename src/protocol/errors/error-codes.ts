/** The HTTP status of an error code, and whether message and metadata reach the caller. */
export interface ErrorCodeInfo {
  readonly status: number;
  readonly public: boolean;
}

/** Codes by group and status, so that each is a word in a string: every Worker and every page carries them. */
type Codes = Readonly<Record<string, Readonly<Record<number, string>>>>;

/** The public codes. Not here: those that are what their group is by default. docs/reference/errors.md has them all. */
const PUBLIC: Codes = {
  actor: {
    400:
      "invalid_id invalid_key invalid_name invalid_option invalid_region invalid_request key_too_large " +
      "validation_error",
    404: "action_not_found destroyed namespace_not_found no_request_handler not_found",
    405: "method_not_allowed",
    408: "action_timed_out callback_timed_out",
    409: "call_too_deep duplicate_key workflow_in_flight",
    413: "input_too_large",
    500: "aborted invalid_response sleeping",
    503: "overloaded restarting starting stopping",
  },
  api: {
    401: "unauthorized",
  },
  auth: {
    401: "unauthorized",
    403: "forbidden host_not_allowed origin_not_allowed",
  },
  client: {
    400: "connection_disposed get_params_failed invalid_name",
    403: "connection_refused",
    408: "call_timed_out",
    409: "actor_changed",
    413: "input_too_large",
    500: "invalid_encoding invalid_endpoint invalid_option invalid_ping_interval malformed_response network_error",
    501: "no_web_socket",
    503: "connection_closed connection_lost connection_open_failed",
  },
  connection: {
    409: "closed",
    429: "overloaded too_many",
    500: "lost",
    503: "unread",
  },
  encoding: {
    400: "invalid unsupported",
  },
  event: {
    404: "not_declared",
    413: "too_many_subscriptions",
  },
  feature: {
    501: "unsupported",
  },
  guard: {
    400: "missing_actor query_duplicate_param query_invalid_params",
    404: "no_route",
    413: "invalid_request_body",
    503: "tunnel_request_aborted",
  },
  inspector: {
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    412: "state_changed",
  },
  kv: {
    413: "batch_too_large list_too_large value_too_large",
  },
  message: {
    413: "incoming_too_long outgoing_too_long",
  },
  queue: {
    400: "invalid_payload",
    404: "not_declared",
    408: "timed_out",
    409: "already_completed previous_message_not_completed self_wait wait_cycle",
    413: "message_too_large",
    429: "full",
  },
  request: {
    400: "invalid",
    413: "too_large",
  },
  schedule: {
    429: "max_schedules_exceeded",
    500: "interrupted",
  },
  sqlite: {
    429: "transaction_queue_full",
  },
  storage: {
    500: "newer_format",
    507: "full",
  },
  value: {
    400: "not_serializable",
    413: "too_large",
  },
  workflow: {
    400: "invalid_name invalid_time not_a_step",
    404: "step_not_found",
    409: "cancelled rolling_back step_passed",
    501: "not_deployed",
  },
};

/** Those that are neither public, nor a 500, nor what their group is by default. */
const MASKED: Codes = {
  schedule: {
    500: "invalid_schedule_row",
  },
  workflow: {
    503: "evicted",
  },
};

/**
 * Codes that only RivetKit throws, unless they are a masked 500. Our client goes by the status when a RivetKit server closes its
 * connection with one, and code moved from RivetKit may throw one.
 */
const RIVETKIT_PUBLIC: Codes = {
  actor: {
    400: "empty_key missing_input no_runner_config_configured",
    404: "kv_key_not_found",
    409: "key_reserved_in_different_datacenter",
    503:
      "destroyed_during_creation destroyed_while_waiting_for_ready destroying dropped_reply not_ready " +
      "shutdown_timeout",
  },
  api: {
    403: "forbidden",
    404: "not_found",
  },
  connection: {
    404: "not_found",
  },
  guard: {
    429: "rate_limit",
    502: "retry_attempts_exceeded routing_error upstream_error",
    503:
      "actor_ready_timeout actor_runner_failed actor_stopped_while_waiting actor_wake_retries_exceeded " +
      "service_unavailable tunnel_response_closed",
    504: "gateway_response_start_timeout request_timeout tunnel_message_timeout",
  },
  queue: {
    400: "complete_not_configured invalid_completion_payload message_invalid",
  },
  registry: {
    503: "shut_down",
  },
};
const RIVETKIT_MASKED: Codes = {
  queue: {
    409: "completion_waiter_conflict",
    503: "completion_waiter_dropped",
  },
};

/** Codes of these groups are public 400s: every `user/…`, for example. Other codes that no table has are masked 500s. */
const PUBLIC_GROUPS = ["user", "schedule", "kv"];

let infos: ReadonlyMap<string, ErrorCodeInfo> | undefined;

/** The status and visibility of a code. */
export function errorCodeInfo(group: string, code: string): ErrorCodeInfo {
  infos ??= new Map([
    ...infosOf(PUBLIC, true),
    ...infosOf(MASKED, false),
    ...infosOf(RIVETKIT_PUBLIC, true),
    ...infosOf(RIVETKIT_MASKED, false),
  ]);
  const isPublic = PUBLIC_GROUPS.includes(group);
  return infos.get(`${group}/${code}`) ?? { status: isPublic ? 400 : 500, public: isPublic };
}

function infosOf(codes: Codes, isPublic: boolean): [name: string, info: ErrorCodeInfo][] {
  return Object.entries(codes).flatMap(([group, byStatus]) =>
    Object.entries(byStatus).flatMap(([status, words]) =>
      words
        .split(" ")
        .map((code): [string, ErrorCodeInfo] => [`${group}/${code}`, { status: Number(status), public: isPublic }]),
    ),
  );
}
