import { ActorError, fieldOf } from "../../protocol/index.js";
import type { ActivePart, MessageTaker, Part, PartActor, StartedPart } from "../activation/part.js";
import type { PartMembers, StepUse, TakenMessage } from "../activation/part-members.js";
import type { CompiledActor } from "../definition/compiled-actor.js";
import type { ActorRecord } from "../storage/record.js";
import { AbsentWorkflow } from "./absent-workflow.js";

/** Events that parts are notified of, without a result. */
type Event = "load" | "begin" | "fireDue" | "beforeCommit" | "committed" | "leaving" | "suspend" | "destroyed" | "end";

/** The fields that its parts add to the record of a new actor. */
export function firstRecord(actor: CompiledActor, now: number): Partial<ActorRecord> {
  return Object.assign({}, ...actor.parts.map(({ part }) => (fieldOf(part, "record") as Part["record"])?.(now)));
}

/** The parts of one activation, in the order they joined. */
export class Parts implements PartMembers {
  readonly #byName: ReadonlyMap<string, ActivePart>;
  readonly #all: readonly ActivePart[];
  readonly #takers: readonly MessageTaker[];
  readonly members: ReadonlyMap<string, () => unknown>;
  readonly stepMembers: ReadonlyMap<string, (step: StepUse) => unknown>;
  /** Parts whose data a failed start must undo. */
  readonly started: readonly StartedPart[];

  constructor(activation: PartActor) {
    this.#byName = joined(activation);
    this.#all = [...this.#byName.values()];
    this.#takers = this.#all.flatMap((part) => memberOf(part, "messages") ?? []);
    this.members = new Map(this.#all.flatMap((part) => Object.entries(memberOf(part, "members") ?? {})));
    this.stepMembers = new Map(this.#all.flatMap((part) => Object.entries(memberOf(part, "stepMembers") ?? {})));
    this.started = this.#all.flatMap((part) => memberOf(part, "start") ?? []);
  }

  tell<E extends Event>(event: E, ...args: Parameters<NonNullable<ActivePart[E]>>): void {
    for (const part of this.#all) if (memberOf(part, event)) (part[event] as (...args: unknown[]) => void)(...args);
  }

  /** Counts the writes of user code through parts. */
  get writes(): number {
    return this.#all.reduce((sum, part) => sum + (memberOf(part, "writes") ?? 0), 0);
  }

  /** The highest counter value in the rows of parts. */
  get highestSeq(): number {
    return this.#all.reduce((highest, part) => Math.max(highest, memberOf(part, "highestSeq") ?? 0), 0);
  }

  get isBusy(): boolean {
    return this.#all.some((part) => memberOf(part, "isBusy"));
  }

  waitsIn(steps: ReadonlySet<string>): boolean {
    return this.#all.some((part) => memberOf(part, "waitsIn") && part.waitsIn?.(steps));
  }

  wakeAt(): number | undefined {
    return this.#all.reduce<number | undefined>((first, part) => {
      const at = memberOf(part, "wakeAt") && part.wakeAt?.();
      return at === undefined || (first !== undefined && first <= at) ? first : at;
    }, undefined);
  }

  async advance(): Promise<void> {
    for (const part of this.#all) if (memberOf(part, "advance")) await part.advance?.();
  }

  /** Runs a start so that the data of all parts is undone if it fails. */
  together<T>(name: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
    const inside = (run: () => Promise<T>, part: StartedPart) => (): Promise<T> => part.together(name, timeoutMs, run);
    return this.started.reduce(inside, work)();
  }

  /** Resolves when a commit that nobody waits for would disturb no part. */
  idle(): Promise<unknown> | undefined {
    const waits = this.#all.flatMap((part) => (memberOf(part, "idle") && part.idle?.()) ?? []);
    return waits.length === 0 ? undefined : Promise.all(waits);
  }

  // ---- messages ----------------------------------------------------------------------------------------------------

  /** Whether a part has taken the message that was just added, with a commit. */
  takeMessage(): boolean {
    return this.#takers.some((taker) => taker.take());
  }

  expectMessages(): void {
    for (const taker of this.#takers) taker.expect();
  }

  /** Whether a part may take the messages. */
  offerMessages(): boolean {
    return this.#takers.some((taker) => taker.offer());
  }

  *takenMessages(): IterableIterator<TakenMessage> {
    for (const taker of this.#takers) yield* taker.taken();
  }

  // ---- the wire ----------------------------------------------------------------------------------------------------

  /** @throws {feature/unsupported} when the actor has no such part, or it answers no operations */
  async answer(name: string, body: Uint8Array): Promise<Uint8Array | undefined> {
    const part = this.#byName.get(name);
    if (part && memberOf(part, "answer")) return part.answer?.(body);
    throw new ActorError("feature", "unsupported", `This actor has no part "${name}" that answers`);
  }
}

/** The parts of the definition, parts left by an earlier deploy, and a stand-in for a missing workflow. */
function joined(activation: PartActor): Map<string, ActivePart> {
  const { actor, record } = activation;
  const parts = new Map<string, ActivePart>();
  for (const { part, carrier } of actor.parts) parts.set(part.name, (part as Part).join(activation, carrier));
  for (const part of actor.knownParts as readonly Part[]) {
    const serves = !parts.has(part.name) && fieldOf(part, "serves") && part.serves?.(record);
    if (serves) parts.set(part.name, part.join(activation, undefined));
  }
  if (!parts.has("workflow")) parts.set("workflow", new AbsentWorkflow(activation));
  return parts;
}

/** A member of the part itself, never of `Object.prototype`. */
function memberOf<K extends keyof ActivePart>(part: ActivePart, key: K): ActivePart[K] {
  return fieldOf(part, key) as ActivePart[K];
}
