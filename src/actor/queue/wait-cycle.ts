import { ActorError } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { describeLink, type Chain } from "../activation/call-chain.js";

/** What the check needs from the actor. */
export type CycleHost = Pick<ActorActivation, "record" | "parts" | "receivers">;

/**
 * Refuses a wait for a reply if the receiver of the message waits for the sender.
 * @throws {queue/wait_cycle} when it does
 */
export function checkCycle(activation: CycleHost, queue: string, chain: Chain): void {
  const links = chain.filter(({ actorId }) => actorId === activation.record.actorId);
  const steps = new Set(links.flatMap(({ waits, step }) => (waits === "workflow" && step !== undefined ? [step] : [])));
  const isRunHandler = links.some(({ waits }) => waits === "run");
  const isCycle =
    (steps.size > 0 && activation.parts.waitsIn(steps)) ||
    (isRunHandler && !activation.receivers.runHandlerReceives(queue));
  if (!isCycle) return;
  const message = `The message in "${queue}" would never be received: its receiver waits for its sender`;
  throw new ActorError("queue", "wait_cycle", message, { metadata: { chain: chain.map(describeLink) } });
}
