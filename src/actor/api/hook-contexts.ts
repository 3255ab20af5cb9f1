/** Names of the hooks' contexts: with type arguments in RivetKit's order, and by an actor's own type (`…Of<typeof cart>`). */
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
export type CreateVarsContext<
  S,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> = CreateContext<S, I, DB, E, Q>;
export type CreateConnStateContext<
  S,
  V,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> = BeforeConnectContext<S, V, I, DB, E, Q>;

export type ActorContextOf<D> =
  D extends ActorDefinition<infer S, infer CP, infer CS, infer V, infer _I, infer DB, infer E, infer Q, infer _M>
    ? ActorContext<S, CP, CS, V, unknown, DB, E, Q>
    : never;
/** The context of an actor's actions: for helpers, `function total(c: ActionContextOf<typeof cart>): number`. */
export type ActionContextOf<D> =
  D extends ActorDefinition<infer S, infer CP, infer CS, infer V, infer _I, infer DB, infer E, infer Q, infer _M>
    ? ActionContext<S, CP, CS, V, unknown, DB, E, Q>
    : never;
export type RunContextOf<D> =
  D extends ActorDefinition<infer S, infer CP, infer CS, infer V, infer _I, infer DB, infer E, infer Q, infer _M>
    ? RunContext<S, CP, CS, V, unknown, DB, E, Q>
    : never;
export type CreateStateContextOf<D> =
  D extends ActorDefinition<infer _S, infer _CP, infer _CS, infer _V, infer _I, infer DB, infer _E, infer Q, infer _M>
    ? CreateStateContext<DB, Q>
    : never;
export type CreateContextOf<D> =
  D extends ActorDefinition<infer S, infer _CP, infer _CS, infer _V, infer _I, infer DB, infer _E, infer Q, infer _M>
    ? CreateContext<S, unknown, DB, any, Q>
    : never;
export type BeforeConnectContextOf<D> =
  D extends ActorDefinition<infer S, infer _CP, infer _CS, infer V, infer _I, infer DB, infer E, infer Q, infer _M>
    ? BeforeConnectContext<S, V, unknown, DB, E, Q>
    : never;
export type CreateConnStateContextOf<D> = BeforeConnectContextOf<D>;
export type ConnInitContextOf<D> = BeforeConnectContextOf<D>;
export type ConnContextOf<D> =
  D extends ActorDefinition<infer S, infer CP, infer CS, infer V, infer _I, infer DB, infer E, infer Q, infer _M>
    ? ConnContext<S, CP, CS, V, unknown, DB, E, Q>
    : never;
export type ConnectContextOf<D> = ConnContextOf<D>;
export type DisconnectContextOf<D> = ActorContextOf<D>;
export type CreateVarsContextOf<D> = CreateContextOf<D>;
export type MigrateContextOf<D> = CreateContextOf<D>;
export type WakeContextOf<D> = ActorContextOf<D>;
export type SleepContextOf<D> = ActorContextOf<D>;
export type StateChangeContextOf<D> = ActorContextOf<D>;
export type BeforeActionResponseContextOf<D> = ActorContextOf<D>;
export type WebSocketContextOf<D> = ConnContextOf<D>;
export type DestroyContextOf<D> = ActorContextOf<D>;
export type RequestContextOf<D> = ConnContextOf<D>;
