import { decodeValue, encodeValue, type InspectQuestion } from "../../protocol/index.js";
import type { PartActor } from "../activation/part.js";
import { KEYS } from "../storage/record.js";
import type { InspectedActor } from "./inspected-actor.js";

const KEY = KEYS.part("inspector", "audit");
/** How many acts are kept. */
const KEPT = 20;

/** One act of an operator. */
export interface AuditLine {
  /** Epoch ms. */
  readonly at: number;
  readonly act: string;
  /** The operator's name. */
  readonly by: string;
  /** What it was done to. */
  readonly detail: object;
}

/** The last acts of operators, the latest first. */
export function auditOf({ rows }: InspectedActor): { readonly items: readonly AuditLine[] } {
  return { items: linesOf(rows.get(KEY)).reverse() };
}

/** Does something and commits it with its line in the audit. If it throws, there is no line. */
export function audited<T>(
  actor: PartActor,
  act: Extract<InspectQuestion, { readonly by: string }>,
  detail: object,
  work: () => T,
): T {
  const before = actor.read(KEY);
  const line: AuditLine = { at: actor.ports.now(), act: act.about, by: act.by, detail };
  const lines = encodeValue([...linesOf(before), line].slice(-KEPT));
  actor.put(KEY, () => lines);
  let result: T;
  try {
    result = work();
  } catch (error) {
    if (before) actor.put(KEY, () => new Uint8Array(before));
    else actor.delete(KEY);
    throw error;
  }
  actor.commitOrThrow();
  return result;
}

function linesOf(bytes: Uint8Array | undefined): AuditLine[] {
  return bytes ? (decodeValue(bytes) as AuditLine[]) : [];
}
