import { ActorError, own, type CallEnvelope, type CallLink } from "../../protocol/index.js";

/** So many calls may wait for one another. */
const MAX_DEPTH = 32;
/** Links that one call carries: what several messages brought is carried together. A message's row has room for so many. */
const MAX_LINKS = 64;
/** Longest text in a link, UTF-16 units: who waits in a step with a longer location is not found. */
const MAX_TEXT = 200;

export type Chain = readonly CallLink[];

/** What a call carries of whoever makes it: those who wait for that one, and itself. @throws actor/call_too_deep */
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

/** The chain of a call; none of whoever calls from outside, and of an older release. */
export function chainOf({ internal, chain }: Pick<CallEnvelope, "internal" | "chain">): Chain {
  return internal === true ? readChain(chain) : [];
}

/** What of it is a chain. */
export function readChain(chain: unknown): Chain {
  return Array.isArray(chain) ? chain.slice(-MAX_LINKS).flatMap(readLink) : [];
}

function isShort(text: unknown): text is string {
  return typeof text === "string" && text.length <= MAX_TEXT;
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

/** Of a link, what people are told. */
export function describeLink({ actorId, name, waits }: CallLink): object {
  return { actorId, name, waits };
}
