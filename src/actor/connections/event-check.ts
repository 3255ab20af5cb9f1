import { ActorError, ownField } from "../../protocol/index.js";
import type { CompiledActor } from "../definition/compiled-actor.js";
import type { EventDeclaration, StandardSchema } from "../api/declarations.js";
import { isStandardSchema, issuesOf } from "../definition/standard-schema.js";

/**
 * Checks what is about to be sent against the event's schema, if it has one, and gives what is to be sent instead. Of one
 * argument, itself is looked at, of several the list.
 *
 * @throws actor/validation_error, and feature/unsupported for an asynchronous schema: events are sent at once
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
      `The schema of event "${name}" is asynchronous, but events are sent at once`,
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
 * From outside only declared events exist, unless none is declared (CONN-5).
 * @throws event/not_declared, event/invalid_name
 */
export function checkSubscribable(actor: CompiledActor, name: string): void {
  const declared = Object.keys(actor.config.events ?? {});
  if (declared.length > 0 && !declared.includes(name)) {
    throw new ActorError("event", "not_declared", `This actor has no event ${JSON.stringify(name.slice(0, 100))}`);
  }
}

/** Who may subscribe; undefined: everybody. */
export function canSubscribeOf(actor: CompiledActor, name: string): ((c: unknown) => unknown) | undefined {
  const declared = declarationOf(actor, name);
  return isStandardSchema(declared) ? undefined : declared && ownField(declared, "canSubscribe");
}

function declarationOf(actor: CompiledActor, name: string): EventDeclaration | StandardSchema | undefined {
  const events: Readonly<Record<string, EventDeclaration | StandardSchema>> = actor.config.events ?? {};
  return Object.hasOwn(events, name) ? events[name] : undefined;
}
