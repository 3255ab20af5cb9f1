import { own } from "../../protocol/index.js";
import type { ClientInput, EventDeclarations, QueueDeclarations } from "../api/declarations.js";
import type { ClientAction } from "../api/client-types.js";
import type { ActorConfig, ActorDefinition } from "../api/contexts.js";
import { checkConfig } from "./compiled-actor.js";

/**
 * Defines an actor: its state, actions and background work. Checks the configuration and returns an immutable definition
 * for `setup`. Starts nothing.
 *
 * @throws {TypeError} when a key is unknown, both members of a pair are given (`state`/`createState`,
 * `vars`/`createVars`, `connState`/`createConnState`), an action is not a function, two actions have the same dotted
 * name, or an option is not a positive number
 * @example
 *     const counter = actor({
 *       state: { count: 0 },
 *       actions: { increment: (c, by: number) => (c.state.count += by) },
 *     });
 *     export const registry = setup({ use: { counter } });
 */
export function actor<
  S,
  CP,
  CS,
  V,
  I,
  DB,
  E extends EventDeclarations,
  Q extends QueueDeclarations,
  A,
  Schema = unknown,
>(
  config: ActorConfig<S, CP, CS, V, I, DB, E, Q, A> & { readonly inputSchema?: Schema },
): ActorDefinition<S, CP, CS, V, ClientInput<I, Schema>, DB, E, Q, { [K in keyof A]: ClientAction<A[K]> }> {
  if (typeof config !== "object" || config === null) throw new TypeError("actor() takes a configuration object");
  const given = own(config);
  checkConfig(given);
  return Object.freeze({ config: Object.freeze(given) });
}
