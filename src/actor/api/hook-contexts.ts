/** The contexts of hooks by name: with type arguments in RivetKit's order, and of an actor (`…Of<typeof cart>`). */
import type { EventDeclarations, QueueDeclarations } from "./declarations.js";
import type {
  ActionContext,
  ActorContext,
  ActorDefinition,
  BeforeConnectContext,
  ConnContext,
  CreateContext,
  CreateStateContext,
  RunContext,
} from "./contexts.js";

/** The context of `onWake`. */
export type WakeContext<
  S,
  CP,
  CS,
  V,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> = ActorContext<S, CP, CS, V, I, DB, E, Q>;
/** The context of `onSleep`. */
export type SleepContext<
  S,
  CP,
  CS,
  V,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> = ActorContext<S, CP, CS, V, I, DB, E, Q>;
/** The context of `onStateChange`. */
export type StateChangeContext<
  S,
  CP,
  CS,
  V,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> = ActorContext<S, CP, CS, V, I, DB, E, Q>;
/** The context of `onDestroy`. */
export type DestroyContext<
  S,
  CP,
  CS,
  V,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> = ActorContext<S, CP, CS, V, I, DB, E, Q>;
/** The context of `onDisconnect`. */
export type DisconnectContext<
  S,
  CP,
  CS,
  V,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> = ActorContext<S, CP, CS, V, I, DB, E, Q>;
/** The context of `onMigrate`. */
export type MigrateContext<
  S,
  CP,
  CS,
  V,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> = ActorContext<S, CP, CS, V, I, DB, E, Q>;
/** The context of `onBeforeActionResponse`. */
export type BeforeActionResponseContext<
  S,
  CP,
  CS,
  V,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> = ActorContext<S, CP, CS, V, I, DB, E, Q>;
/** The context of `onConnect`. */
export type ConnectContext<
  S,
  CP,
  CS,
  V,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> = ConnContext<S, CP, CS, V, I, DB, E, Q>;
/** The context of `onRequest`. */
export type RequestContext<
  S,
  CP,
  CS,
  V,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> = ConnContext<S, CP, CS, V, I, DB, E, Q>;
/** The context of `onWebSocket`. */
export type WebSocketContext<
  S,
  CP,
  CS,
  V,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> = ConnContext<S, CP, CS, V, I, DB, E, Q>;
/** The context of `createVars`. */
export type CreateVarsContext<
  S,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> = CreateContext<S, I, DB, E, Q>;
/** The context of `createConnState`. */
export type CreateConnStateContext<
  S,
  V,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> = BeforeConnectContext<S, V, I, DB, E, Q>;

/** The context of an actor's hooks that no caller causes. */
export type ActorContextOf<D> =
  D extends ActorDefinition<infer S, infer CP, infer CS, infer V, infer _I, infer DB, infer E, infer Q, infer _M>
    ? ActorContext<S, CP, CS, V, unknown, DB, E, Q>
    : never;
/**
 * The context of an actor's actions, for functions that actions call.
 *
 * @example
 *     const total = (c: ActionContextOf<typeof cart>): number => c.state.items.length;
 */
export type ActionContextOf<D> =
  D extends ActorDefinition<infer S, infer CP, infer CS, infer V, infer _I, infer DB, infer E, infer Q, infer _M>
    ? ActionContext<S, CP, CS, V, unknown, DB, E, Q>
    : never;
/** The context of an actor's `run` handler. */
export type RunContextOf<D> =
  D extends ActorDefinition<infer S, infer CP, infer CS, infer V, infer _I, infer DB, infer E, infer Q, infer _M>
    ? RunContext<S, CP, CS, V, unknown, DB, E, Q>
    : never;
/** The context of an actor's `createState`. */
export type CreateStateContextOf<D> =
  D extends ActorDefinition<infer _S, infer _CP, infer _CS, infer _V, infer _I, infer DB, infer _E, infer Q, infer _M>
    ? CreateStateContext<DB, Q>
    : never;
/** The context of an actor's `onCreate`. */
export type CreateContextOf<D> =
  D extends ActorDefinition<infer S, infer _CP, infer _CS, infer _V, infer _I, infer DB, infer _E, infer Q, infer _M>
    ? CreateContext<S, unknown, DB, any, Q>
    : never;
/** The context of an actor's `onBeforeConnect`. */
export type BeforeConnectContextOf<D> =
  D extends ActorDefinition<infer S, infer _CP, infer _CS, infer V, infer _I, infer DB, infer E, infer Q, infer _M>
    ? BeforeConnectContext<S, V, unknown, DB, E, Q>
    : never;
/** The context of an actor's `createConnState`. */
export type CreateConnStateContextOf<D> = BeforeConnectContextOf<D>;
/** The context of an actor's `createConnState`, by RivetKit's name. */
export type ConnInitContextOf<D> = BeforeConnectContextOf<D>;
/** The context of an actor's callbacks that run for a connection. */
export type ConnContextOf<D> =
  D extends ActorDefinition<infer S, infer CP, infer CS, infer V, infer _I, infer DB, infer E, infer Q, infer _M>
    ? ConnContext<S, CP, CS, V, unknown, DB, E, Q>
    : never;
/** The context of an actor's `onConnect`. */
export type ConnectContextOf<D> = ConnContextOf<D>;
/** The context of an actor's `onDisconnect`. */
export type DisconnectContextOf<D> = ActorContextOf<D>;
/** The context of an actor's `createVars`. */
export type CreateVarsContextOf<D> = CreateContextOf<D>;
/** The context of an actor's `onMigrate`. */
export type MigrateContextOf<D> = CreateContextOf<D>;
/** The context of an actor's `onWake`. */
export type WakeContextOf<D> = ActorContextOf<D>;
/** The context of an actor's `onSleep`. */
export type SleepContextOf<D> = ActorContextOf<D>;
/** The context of an actor's `onStateChange`. */
export type StateChangeContextOf<D> = ActorContextOf<D>;
/** The context of an actor's `onBeforeActionResponse`. */
export type BeforeActionResponseContextOf<D> = ActorContextOf<D>;
/** The context of an actor's `onWebSocket`. */
export type WebSocketContextOf<D> = ConnContextOf<D>;
/** The context of an actor's `onDestroy`. */
export type DestroyContextOf<D> = ActorContextOf<D>;
/** The context of an actor's `onRequest`. */
export type RequestContextOf<D> = ConnContextOf<D>;
