import { ActorError, own, type CallEnvelope, type CallLink } from "../../protocol/index.js";

/** How many calls may wait for one another. */
const MAX_DEPTH = 32;
/** Links that one call carries, those of several messages together. A message's row has room for this many. */
const MAX_LINKS = 64;
/** Longest string in a link, in UTF-16 units. A cycle through a step with a longer location is not detected. */
const MAX_STRING = 200;

export type Chain = readonly CallLink[];

/**
 * The chain that a call carries: everyone who waits for its caller, and the caller.
 * @throws {actor/call_too_deep} when too many calls wait for one another
 */
export function extendChain(inherited: readonly Chain[], link: Omit<CallLink, "depth">): Chain {
  const before = inherited.flat();
  const depth = 1 + before.reduce((deepest, each) => Math.max(deepest, each.depth), 0);
  if (depth > MAX_DEPTH) {
    throw new ActorError("actor", "call_too_deep", `More than ${MAX_DEPTH} calls between actors wait for one another`, {
      metadata: { chain: before.slice(-MAX_DEPTH).map(describeLink) },
    });
  }
  return [...before.slice(1 - MAX_LINKS), ...readLink({ ...link, depth })];
}

/** The chain of a call. Empty for a call from outside or from an older release. */
export function chainOf({ internal, chain }: Pick<CallEnvelope, "internal" | "chain">): Chain {
  return internal === true ? readChain(chain) : [];
}

/** Reads a chain and drops what is not a link. */
export function readChain(chain: unknown): Chain {
  return Array.isArray(chain) ? chain.slice(-MAX_LINKS).flatMap(readLink) : [];
}

function isShort(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_STRING;
}

function readLink(link: unknown): CallLink[] {
  if (typeof link !== "object" || link === null) return [];
  const { actorId, name, waits, step, depth } = own(link as CallLink);
  if (
    !isShort(actorId) ||
    !isShort(name) ||
    typeof depth !== "number" ||
    !["workflow", "run", "action"].includes(waits)
  )
    return [];
  return [{ actorId, name, waits, ...(isShort(step) && { step }), depth }];
}

/** A link as error metadata shows it. */
export function describeLink({ actorId, name, waits }: CallLink): object {
  return { actorId, name, waits };
}
