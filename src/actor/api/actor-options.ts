/** `options` of a definition. All durations are in ms, all sizes in bytes, and all numbers must be positive. */
export interface ActorOptions {
  /** Display name; has no effect. */
  readonly name?: string;
  /** Display icon; has no effect. */
  readonly icon?: string;
  /**
   * How long an action and its `onBeforeActionResponse` may run (default 60,000). Exceeding it rejects with
   * `actor/action_timed_out`. Also the timeout of a send with `wait` that names none.
   */
  readonly actionTimeout?: number;
  /**
   * How long `createVars` may run (default 5,000). Exceeding it is `actor/callback_timed_out`, as for all hooks below.
   */
  readonly createVarsTimeout?: number;
  /** How long `createConnState` may run (default 5,000). */
  readonly createConnStateTimeout?: number;
  /** How long `canCreate` and `onBeforeConnect` may run (default 5,000). */
  readonly onBeforeConnectTimeout?: number;
  /** How long `onConnect` and `onDisconnect` may run (default 5,000). */
  readonly onConnectTimeout?: number;
  /** How long the database's migration and `onMigrate` may run together (default 30,000). */
  readonly onMigrateTimeout?: number;
  /** How long an actor that sleeps or is destroyed waits for its hook, `waitUntil` and `keepAwake` (default 15,000). */
  readonly sleepGracePeriod?: number;
  /** How long an actor must be idle before `onSleep` runs (default 30,000). Without `onSleep` it has no effect. */
  readonly sleepTimeout?: number;
  /** Never runs `onSleep` for being idle (default false). The platform may still evict the actor. */
  readonly noSleep?: boolean;
  /** The most stored messages, all queues together (default 1,000). A send beyond it is `queue/full`. */
  readonly maxQueueSize?: number;
  /** The most bytes of stored message bodies, all queues together (default 8 MiB). A send beyond it is `queue/full`. */
  readonly maxQueueBytes?: number;
  /** The largest encoded message (default 65,536). A larger one is `queue/message_too_large`. */
  readonly maxQueueMessageSize?: number;
  /** The most open connections and raw sockets (default 10,000). Another one is `connection/too_many`. */
  readonly maxConnections?: number;
  /** How many calls of one connection run at a time (default 256). Later ones wait. */
  readonly maxConnectionCalls?: number;
  /**
   * The most bytes of one connection's unanswered calls (default 16 MiB). A call beyond it is `connection/overloaded`.
   */
  readonly maxConnectionCallBytes?: number;
  /**
   * The most bytes a client of Perdure may leave unread before its connection is closed with 1013 (default 8 MiB). At
   * least twice `maxOutgoingMessageSize`.
   */
  readonly maxUnreadBytes?: number;
  /** The most schedules and recurring jobs together (default 1,000). */
  readonly maxSchedules?: number;
  /**
   * Whether raw sockets (`onWebSocket`) stay open while the actor is out of memory, or a function that decides for each
   * (default false). Connections always do.
   *
   * @example
   *     canHibernateWebSocket: (request) => new URL(request.url).pathname.endsWith("/chat"),
   */
  readonly canHibernateWebSocket?: boolean | ((request: Request) => boolean);
  /** @deprecated Has no effect, and warns: state is committed before anything that depends on it is visible. */
  readonly stateSaveInterval?: number;
  /** @deprecated Has no effect, and warns: the platform answers pings, also for an actor that hibernates. */
  readonly connectionLivenessTimeout?: number;
  /** @deprecated Has no effect, and warns. */
  readonly connectionLivenessInterval?: number;
  /** @deprecated Has no effect, and warns. */
  readonly enableActorRuntimeSocket?: boolean;
  /** @deprecated Has no effect, and warns: `sleepGracePeriod` bounds it. */
  readonly onDestroyTimeout?: number;
  /** @deprecated Has no effect, and warns: `sleepGracePeriod` bounds it. */
  readonly waitUntilTimeout?: number;
  /** @deprecated Has no effect, and warns. */
  readonly preloadMaxWorkflowBytes?: number;
  /** @deprecated Has no effect, and warns. */
  readonly preloadMaxConnectionsBytes?: number;
}

/** `inspector` of a definition: validated, has no effect. */
export interface InspectorConfig {
  readonly tabs?: readonly InspectorTab[];
}
/** A custom inspector tab, or a built-in one that is hidden. */
export type InspectorTab =
  | {
      readonly id: string;
      readonly label: string;
      readonly source: string;
      readonly icon?: string;
      readonly hidden?: false;
    }
  | { readonly id: string; readonly hidden: true };
