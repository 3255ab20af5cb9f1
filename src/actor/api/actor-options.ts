/** All durations in ms; all numbers are positive. */
export interface ActorOptions {
  /** For displays; without effect. */
  readonly name?: string;
  readonly icon?: string;
  /** Of an action, of `onBeforeActionResponse`, and of a send with `wait` that names no timeout; default 60,000. */
  readonly actionTimeout?: number;
  /** Default 5,000. Too long is actor/callback_timed_out, as for the hooks below. */
  readonly createVarsTimeout?: number;
  /** Default 5,000. */
  readonly createConnStateTimeout?: number;
  /** Default 5,000. */
  readonly onBeforeConnectTimeout?: number;
  /** Of `onConnect` and of `onDisconnect`; default 5,000. */
  readonly onConnectTimeout?: number;
  /** Default 30,000. */
  readonly onMigrateTimeout?: number;
  /** For all that is still done when the actor goes to sleep or is destroyed: its hook, `waitUntil`, `keepAwake`; default 15,000. */
  readonly sleepGracePeriod?: number;
  /** How long an actor with `onSleep` must be idle before it runs; default 30,000. */
  readonly sleepTimeout?: number;
  /** The actor never goes to sleep for being idle. The platform may still evict it. */
  readonly noSleep?: boolean;
  /** Stored messages of all queues together; default 1,000. */
  readonly maxQueueSize?: number;
  /** Bytes of the stored messages' bodies together, beyond which a send is queue/full; default 8 MiB. */
  readonly maxQueueBytes?: number;
  /** Bytes of one encoded message; default 65,536. */
  readonly maxQueueMessageSize?: number;
  /** Connections and raw sockets at a time, beyond which a new one is connection/too_many; default 10,000. */
  readonly maxConnections?: number;
  /** Calls of one connection that run at a time; later ones wait their turn; default 256. */
  readonly maxConnectionCalls?: number;
  /** Bytes of one connection's calls that have no answer yet, beyond which a call is connection/overloaded; default 16 MiB. */
  readonly maxConnectionCallBytes?: number;
  /**
   * Bytes that our own client may leave unread before its connection is closed with 1013; default 8 MiB, at least twice
   * `maxOutgoingMessageSize`.
   */
  readonly maxUnreadBytes?: number;
  /** Schedules of all kinds together; default 1,000. */
  readonly maxSchedules?: number;
  /**
   * Whether a raw socket (`onWebSocket`) stays open while the actor is out of memory, or which do; default false. Connections
   * always do.
   */
  readonly canHibernateWebSocket?: boolean | ((request: Request) => boolean);
  /** @deprecated Accepted with a warning, without effect: state is committed before anything that depends on it is visible. */
  readonly stateSaveInterval?: number;
  /** @deprecated Accepted with a warning, without effect: the platform answers pings, also for an actor that hibernates. */
  readonly connectionLivenessTimeout?: number;
  /** @deprecated Accepted with a warning, without effect. */
  readonly connectionLivenessInterval?: number;
  /** @deprecated Accepted with a warning, without effect. */
  readonly enableActorRuntimeSocket?: boolean;
  /** @deprecated Accepted with a warning, without effect: `sleepGracePeriod` bounds it. */
  readonly onDestroyTimeout?: number;
  /** @deprecated Accepted with a warning, without effect: `sleepGracePeriod` bounds it. */
  readonly waitUntilTimeout?: number;
  /** @deprecated Accepted with a warning, without effect. */
  readonly preloadMaxWorkflowBytes?: number;
  /** @deprecated Accepted with a warning, without effect. */
  readonly preloadMaxConnectionsBytes?: number;
}

/** `inspector` of a definition. */
export interface InspectorConfig {
  readonly tabs?: readonly InspectorTab[];
}
/** A tab of one's own, or a built-in one that is hidden. */
export type InspectorTab =
  | {
      readonly id: string;
      readonly label: string;
      readonly source: string;
      readonly icon?: string;
      readonly hidden?: false;
    }
  | { readonly id: string; readonly hidden: true };
