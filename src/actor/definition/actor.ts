import { own } from "../../protocol/index.js";
import type { ClientInput, EventDeclarations, QueueDeclarations } from "../api/declarations.js";
import type { ClientAction } from "../api/client-types.js";
import type { ActorConfig, ActorDefinition } from "../api/contexts.js";
import { checkConfig } from "./compiled-actor.js";

/**
 * Defines an actor: its state, actions and background work. Pure: checks the configuration and gives back an immutable
 * definition that `setup` takes; nothing starts.
 *
 * @throws TypeError for an unknown key, both members of an exclusive pair (`state`/`createState`, `vars`/`createVars`),
 * an action that is no function, two actions with one dotted name, or an option that is not a positive number
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
