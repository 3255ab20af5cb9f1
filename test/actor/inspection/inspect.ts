import { decodeJson, fromErrorData, type InspectQuestion } from "../../../src/protocol/index.js";
import type { WorldActor } from "../../../src/testing/index.js";

/** Asks an object of the world what an operator asks. */
export async function inspect<T = Record<string, unknown>>(subject: WorldActor, question: InspectQuestion): Promise<T> {
  const reply = await subject.send({ mode: "get" }, { kind: "resolve", inspect: question });
  if (!reply.ok) throw fromErrorData(reply.error, reply.status);
  return decodeJson(new TextDecoder().decode(reply.output)) as T;
}
