import { ownField } from "../own.js";

/** The HTTP status of an error code, and whether message and metadata reach the caller. */
export interface ErrorCodeInfo {
  readonly status: number;
  readonly public: boolean;
}

const shown = (status: number): ErrorCodeInfo => ({ status, public: true });
const masked = (status: number): ErrorCodeInfo => ({ status, public: false });

/** Defaults for codes that no table has: every `user/…`, for example, is a 400 that the caller may read. */
const GROUP_DEFAULTS = new Map<string, ErrorCodeInfo>([
  ["user", shown(400)],
  ["schedule", shown(400)],
  ["kv", shown(400)],
]);

const UNKNOWN: ErrorCodeInfo = masked(500);

/** Exactly the codes that this package throws: test/architecture/error-codes.test.ts compares them with the source. */
const CODES: Readonly<Record<string, ErrorCodeInfo>> = {
  "actor/aborted": shown(500),
  "actor/action_not_found": shown(404),
  "actor/action_timed_out": shown(408),
  "actor/call_too_deep": shown(409),
  "actor/callback_timed_out": shown(408),
  "actor/conn_state_not_enabled": masked(500),
  "actor/database_not_configured": masked(500),
  "actor/destroyed": shown(404),
  "actor/duplicate_key": shown(409),
  "actor/ended": masked(500),
  "actor/input_too_large": shown(413),
  "actor/internal_error": masked(500),
  "actor/invalid_id": shown(400),
  "actor/invalid_key": shown(400),
  "actor/invalid_name": shown(400),
  "actor/invalid_option": shown(400),
  "actor/invalid_region": shown(400),
  "actor/invalid_request": shown(400),
  "actor/invalid_response": shown(500),
  "actor/key_too_large": shown(400),
  "actor/method_not_allowed": shown(405),
  "actor/namespace_not_found": shown(404),
  "actor/no_request_handler": shown(404),
  "actor/not_found": shown(404),
  "actor/not_registered": masked(500),
  "actor/overloaded": shown(503),
  "actor/read_only": masked(500),
  "actor/restarting": shown(503),
  "actor/sleeping": shown(500),
  "actor/starting": shown(503),
  "actor/state_mutation_reentrant": masked(500),
  "actor/state_not_enabled": masked(500),
  "actor/state_not_ready": masked(500),
  "actor/stopping": shown(503),
  "actor/validation_error": shown(400),
  "actor/vars_not_ready": masked(500),
  "actor/workflow_in_flight": shown(409),

  "api/unauthorized": shown(401),

  "auth/forbidden": shown(403),
  "auth/host_not_allowed": shown(403),
  "auth/origin_not_allowed": shown(403),
  "auth/unauthorized": shown(401),

  "client/actor_changed": shown(409),
  "client/call_timed_out": shown(408),
  "client/connection_closed": shown(503),
  "client/connection_disposed": shown(400),
  "client/connection_lost": shown(503),
  "client/connection_open_failed": shown(503),
  "client/connection_refused": shown(403),
  "client/get_params_failed": shown(400),
  "client/input_too_large": shown(413),
  "client/invalid_encoding": shown(500),
  "client/invalid_endpoint": shown(500),
  "client/invalid_name": shown(400),
  "client/invalid_option": shown(500),
  "client/invalid_ping_interval": shown(500),
  "client/malformed_response": shown(500),
  "client/network_error": shown(500),
  "client/no_web_socket": shown(501),

  "connection/closed": shown(409),
  "connection/lost": shown(500),
  "connection/not_configured": masked(500),
  "connection/overloaded": shown(429),
  "connection/too_many": shown(429),
  "connection/unread": shown(503),

  "encoding/invalid": shown(400),
  "encoding/unsupported": shown(400),

  "event/not_declared": shown(404),
  "event/too_many_subscriptions": shown(413),

  "feature/unsupported": shown(501),

  "guard/invalid_request_body": shown(413),
  "guard/missing_actor": shown(400),
  "guard/no_route": shown(404),
  "guard/query_duplicate_param": shown(400),
  "guard/query_invalid_params": shown(400),
  "guard/tunnel_request_aborted": shown(503),

  "kv/batch_too_large": shown(413),
  "kv/invalid_key": shown(400),
  "kv/invalid_option": shown(400),
  "kv/invalid_value": shown(400),
  "kv/key_too_large": shown(400),
  "kv/list_too_large": shown(413),
  "kv/too_many_keys": shown(400),
  "kv/value_too_large": shown(413),

  "message/incoming_too_long": shown(413),
  "message/outgoing_too_long": shown(413),

  "queue/already_completed": shown(409),
  "queue/full": shown(429),
  "queue/invalid_payload": shown(400),
  "queue/message_too_large": shown(413),
  "queue/not_declared": shown(404),
  "queue/previous_message_not_completed": shown(409),
  "queue/self_wait": shown(409),
  "queue/timed_out": shown(408),
  "queue/wait_cycle": shown(409),

  "request/invalid": shown(400),
  "request/too_large": shown(413),

  "rivetkit/internal_error": masked(500),

  "schedule/interrupted": shown(500),
  "schedule/invalid_args": shown(400),
  "schedule/invalid_cron_expression": shown(400),
  "schedule/invalid_interval": shown(400),
  "schedule/invalid_limit": shown(400),
  "schedule/invalid_max_history": shown(400),
  "schedule/invalid_name": shown(400),
  "schedule/invalid_option": shown(400),
  "schedule/invalid_schedule_row": masked(500),
  "schedule/invalid_time": shown(400),
  "schedule/invalid_timezone": shown(400),
  "schedule/max_schedules_exceeded": shown(429),

  "sqlite/asynchronous_transaction": masked(500),
  "sqlite/closed": masked(500),
  "sqlite/constraint_failed": masked(500),
  "sqlite/duplicate_column": masked(500),
  "sqlite/invalid_option": masked(500),
  "sqlite/invalid_parameter": masked(500),
  "sqlite/invalid_sql": masked(500),
  "sqlite/invalid_timeout": masked(500),
  "sqlite/manual_transaction": masked(500),
  "sqlite/statement_failed": masked(500),
  "sqlite/transaction_ended": masked(500),
  "sqlite/transaction_interrupted": masked(500),
  "sqlite/transaction_open": masked(500),
  "sqlite/transaction_queue_full": shown(429),
  "sqlite/transaction_timed_out": masked(500),

  "storage/corrupt": masked(500),
  "storage/full": shown(507),
  "storage/newer_format": shown(500),

  "user/user_error": shown(400),

  "value/not_serializable": shown(400),
  "value/too_large": shown(413),

  "workflow/cancelled": shown(409),
  "workflow/critical": masked(500),
  "workflow/duplicate_name": masked(500),
  "workflow/entry_in_progress": masked(500),
  "workflow/evicted": masked(503),
  "workflow/history_diverged": masked(500),
  "workflow/idle_loop": masked(500),
  "workflow/interrupted": masked(500),
  "workflow/invalid_join": masked(500),
  "workflow/invalid_loop": masked(500),
  "workflow/invalid_name": shown(400),
  "workflow/invalid_race": masked(500),
  "workflow/invalid_removed": masked(500),
  "workflow/invalid_step": masked(500),
  "workflow/invalid_time": shown(400),
  "workflow/invalid_try": masked(500),
  "workflow/invalid_version": masked(500),
  "workflow/join_failed": masked(500),
  "workflow/loop_state_missing": masked(500),
  "workflow/message_wait": masked(500),
  "workflow/not_a_step": shown(400),
  "workflow/not_deployed": shown(501),
  "workflow/not_storable": masked(500),
  "workflow/race_failed": masked(500),
  "workflow/rollback": masked(500),
  "workflow/rollback_checkpoint": masked(500),
  "workflow/sleep": masked(500),
  "workflow/step_ended": masked(500),
  "workflow/step_exhausted": masked(500),
  "workflow/step_failed": masked(500),
  "workflow/step_interrupted": masked(500),
  "workflow/step_not_found": shown(404),
  "workflow/step_only": masked(500),
};

/**
 * Codes that only RivetKit throws, unless they are a masked 500. Our client goes by the status when a RivetKit server closes its
 * connection with one, and code moved from RivetKit may throw one.
 */
const RIVETKIT_CODES: Readonly<Record<string, ErrorCodeInfo>> = {
  "actor/destroyed_during_creation": shown(503),
  "actor/destroyed_while_waiting_for_ready": shown(503),
  "actor/destroying": shown(503),
  "actor/dropped_reply": shown(503),
  "actor/empty_key": shown(400),
  "actor/key_reserved_in_different_datacenter": shown(409),
  "actor/kv_key_not_found": shown(404),
  "actor/missing_input": shown(400),
  "actor/no_runner_config_configured": shown(400),
  "actor/not_ready": shown(503),
  "actor/shutdown_timeout": shown(503),

  "api/forbidden": shown(403),
  "api/not_found": shown(404),

  "connection/not_found": shown(404),

  "guard/actor_ready_timeout": shown(503),
  "guard/actor_runner_failed": shown(503),
  "guard/actor_stopped_while_waiting": shown(503),
  "guard/actor_wake_retries_exceeded": shown(503),
  "guard/gateway_response_start_timeout": shown(504),
  "guard/rate_limit": shown(429),
  "guard/request_timeout": shown(504),
  "guard/retry_attempts_exceeded": shown(502),
  "guard/routing_error": shown(502),
  "guard/service_unavailable": shown(503),
  "guard/tunnel_message_timeout": shown(504),
  "guard/tunnel_response_closed": shown(503),
  "guard/upstream_error": shown(502),

  "inspector/forbidden": shown(403),
  "inspector/unauthorized": shown(401),

  "queue/complete_not_configured": shown(400),
  "queue/completion_waiter_conflict": masked(409),
  "queue/completion_waiter_dropped": masked(503),
  "queue/invalid_completion_payload": shown(400),
  "queue/message_invalid": shown(400),

  "registry/shut_down": shown(503),
};

/** The status and visibility of a code. A code in no table gets its group's default, or else a masked 500. */
export function errorCodeInfo(group: string, code: string): ErrorCodeInfo {
  const name = `${group}/${code}`;
  return ownField(CODES, name) ?? ownField(RIVETKIT_CODES, name) ?? GROUP_DEFAULTS.get(group) ?? UNKNOWN;
}
