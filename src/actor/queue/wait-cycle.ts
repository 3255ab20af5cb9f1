import { ActorError } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { describeLink, type Chain } from "../activation/call-chain.js";

/**
 * Refuses a sender who would wait for those who wait for it: nobody is left to receive its message.
 * @throws queue/wait_cycle
 */
export function checkCycle(activation: ActorActivation, queue: string, chain: Chain): void {
  const links = chain.filter(({ actorId }) => actorId === activation.record.actorId);
  const steps = new Set(links.flatMap(({ waits, step }) => (waits === "workflow" && step !== undefined ? [step] : [])));
  const isRunHandler = links.some(({ waits }) => waits === "run");
  const isCycle =
    (steps.size > 0 && activation.workflowBranches.wait(steps)) ||
    (isRunHandler && !activation.receivers.runHandlerReceives(queue));
  if (!isCycle) return;
  const message = `The message in "${queue}" would wait in a circle: who would receive it waits for its sender`;
  throw new ActorError("queue", "wait_cycle", message, { metadata: { chain: chain.map(describeLink) } });
}
