import { ActorError, ownField } from "../../protocol/index.js";
import type { CompiledActor } from "../definition/compiled-actor.js";
import type { EventDeclaration, StandardSchema } from "../api/declarations.js";
import { isStandardSchema, issuesOf } from "../definition/standard-schema.js";

/**
 * Validates an event's arguments against its schema, if it has one, and returns the arguments to send. The schema gets a
 * single argument as it is, and several as an array.
 *
 * @throws {actor/validation_error} when the arguments do not match
 * @throws {feature/unsupported} when the schema is asynchronous: events are sent synchronously
 */
export function checkEvent(actor: CompiledActor, name: string, args: readonly unknown[]): readonly unknown[] {
  const declared = declarationOf(actor, name);
  const schema = isStandardSchema(declared) ? declared : declared && ownField(declared, "schema");
  if (!schema) return args;
  const result = (schema as StandardSchema)["~standard"].validate(args.length === 1 ? args[0] : args);
  if (result instanceof Promise) {
    throw new ActorError(
      "feature",
      "unsupported",
      `The schema of event "${name}" is asynchronous, but events are sent synchronously`,
    );
  }
  const issues = ownField(result, "issues");
  if (issues)
    throw new ActorError("actor", "validation_error", `Invalid event "${name}"`, {
      metadata: { issues: issuesOf(issues) },
    });
  const { value } = result as { readonly value: unknown };
  return args.length === 1 ? [value] : (value as readonly unknown[]);
}

/**
 * Clients may subscribe only to declared events, or to any event if none is declared (CONN-5).
 * @throws {event/not_declared} when the event is not declared
 */
export function checkSubscribable(actor: CompiledActor, name: string): void {
  const declared = Object.keys(actor.config.events ?? {});
  if (declared.length > 0 && !declared.includes(name)) {
    throw new ActorError("event", "not_declared", `This actor has no event ${JSON.stringify(name.slice(0, 100))}`);
  }
}

/** The event's `canSubscribe`. Undefined if everyone may subscribe. */
export function canSubscribeOf(actor: CompiledActor, name: string): ((c: unknown) => unknown) | undefined {
  const declared = declarationOf(actor, name);
  return isStandardSchema(declared) ? undefined : declared && ownField(declared, "canSubscribe");
}

function declarationOf(actor: CompiledActor, name: string): EventDeclaration | StandardSchema | undefined {
  const events: Readonly<Record<string, EventDeclaration | StandardSchema>> = actor.config.events ?? {};
  return Object.hasOwn(events, name) ? events[name] : undefined;
}
