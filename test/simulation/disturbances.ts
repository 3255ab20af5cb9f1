/** What clients and the platform do to an actor while its workflow runs: all of it must leave the promises kept. */
import {
  decodeValue,
  encodeValue,
  ENVELOPE_VERSION,
  parseActorId,
  type Creation,
  type CallOperation,
  type ReplyEnvelope,
} from "../../src/protocol/index.js";
import {
  createActorCaller,
  createMessageSender,
  createSocketOpener,
  type SendMessage,
} from "../../src/router/index.js";
import type { ManualClock, World, WorldActor } from "../../src/testing/index.js";
import { waitPorts, WorldObjects } from "../router/world-objects.js";
import type { Watch } from "./program-state.js";
import { Ledger, type Told } from "./ledger.js";

const CLIENTS = ["send", "send", "add", "add", "schedule", "recur", "wait", "wait", "complete"] as const;
const PLATFORM = ["spurious alarm", "alarm twice", "alarm lost", "alarm late", "clock forward", "clock back"] as const;
/** Only where processes die. */
const DEATHS = ["write refused", "delete refused", "crash"] as const;
/** What ends the actor's life; what comes next begins another. */
const ENDS = ["destroy", "destroy from outside", "destroy in a step", "destroy later", "look", "old id"] as const;
/** Deploys that cannot serve the actor, for a while (`deploys.ts`). */
const DEPLOYS = ["no actor", "no workflow", "older code"] as const;

type Kind = (typeof CLIENTS | typeof PLATFORM | typeof DEATHS | typeof ENDS | typeof DEPLOYS)[number];

export interface Disturbance {
  readonly kind: Kind;
  readonly atMs: number;
  readonly amount: number;
  readonly queue: string;
}

export function randomDisturbances(random: () => number, crashRate: number): Disturbance[] {
  const kinds: readonly Kind[] = [
    ...CLIENTS,
    ...PLATFORM,
    ...(crashRate > 0 ? DEATHS : []),
    ...(random() < 0.5 ? ENDS : []),
    ...(random() < 0.3 ? DEPLOYS : []),
  ];
  const count = Math.floor(random() * 14);
  return Array.from({ length: count }, () => ({
    kind: kinds[Math.floor(random() * kinds.length)] ?? "send",
    atMs: Math.floor(random() * 2_500),
    amount: random(),
    queue: random() < 0.6 ? "a" : "b",
  })).sort((a, b) => a.atMs - b.atMs);
}

export class Disturber {
  readonly ledger = new Ledger();
  /** The next commit is refused by the store. */
  refuseNext = false;
  /** So many of the next deletions are refused by the store. */
  refusedDeletes = 0;
  /** By how much the clock has jumped ahead, ms. */
  jumpedMs = 0;
  #alarmIsLost = false;
  readonly #subject: WorldActor;
  readonly #clock: ManualClock;
  readonly #watch: Watch;
  readonly #sender: SendMessage;
  readonly #old = new Set<string>();

  constructor(world: World, subject: WorldActor, clock: ManualClock, watch: Watch, random: () => number) {
    this.#subject = subject;
    this.#clock = clock;
    this.#watch = watch;
    const ports = { ...waitPorts(world), random };
    const objects = new WorldObjects(world);
    const call = createActorCaller(objects, { actorNames: ["subject"], ...ports });
    this.#sender = createMessageSender(call, createSocketOpener(objects, new Set(["subject"]), call), ports);
  }

  /** The platform has dropped an alarm at least once: then it takes somebody's touch to put it right. */
  get alarmIsLost(): boolean {
    return this.#alarmIsLost || this.#subject.alarmsDropped > 0;
  }

  async apply(disturbance: Disturbance, index: number): Promise<void> {
    const { kind } = disturbance;
    if (isOneOf(CLIENTS, kind)) return this.#client(kind, disturbance, `${kind}-${index}`);
    if (isOneOf(ENDS, kind)) return this.#end(kind, disturbance);
    if (isOneOf(PLATFORM, kind)) return this.#platform(kind, disturbance);
    if (isOneOf(DEATHS, kind)) return this.#death(kind, disturbance);
    throw new Error(`${kind} is not for clients`);
  }

  async #client(kind: (typeof CLIENTS)[number], { amount, queue }: Disturbance, id: string): Promise<void> {
    const { ledger } = this;
    switch (kind) {
      case "send":
        return this.#tell(ledger.sent, id, { kind: "send", queue, body: encodeValue(id) });
      case "add":
        return this.#tell(ledger.added, id, action("add", id));
      case "schedule":
        return this.#tell(ledger.scheduled, id, action("schedule", id, Math.floor(amount * 400)));
      case "recur":
        return this.#tell(ledger.recurring, id, action("recur", id));
      case "wait":
        return this.#wait(id, amount < 0.5 ? queue : "w", 20 + Math.floor(amount * 3_000));
      case "complete":
        await this.#ask(action("complete"));
    }
  }

  async #end(kind: (typeof ENDS)[number], { amount }: Disturbance): Promise<void> {
    const { over, doomed } = this.ledger;
    switch (kind) {
      case "destroy":
        return addLife(over, await this.#ask(action("destroy"), { mode: amount < 0.2 ? "getOrCreate" : "get" }));
      case "destroy from outside":
        return addLife(over, await this.#ask({ kind: "destroy" }, { mode: "get" }));
      case "destroy in a step":
        this.#watch.destroyInStep = true;
        return;
      case "destroy later":
        return addLife(doomed, await this.#ask(action("destroyLater", Math.floor(amount * 1_000))));
      case "look":
        await this.#ask({ kind: "resolve" }, { mode: "get" });
        return;
      case "old id":
        return this.#askOld();
    }
  }

  async #platform(kind: (typeof PLATFORM)[number], { amount }: Disturbance): Promise<void> {
    switch (kind) {
      case "spurious alarm":
        return this.#subject.fireAlarm();
      case "alarm twice":
        if (!this.#subject.alarmIsDue) return;
        await this.#subject.fireAlarm();
        return this.#subject.fireAlarm();
      case "alarm lost":
        this.#alarmIsLost = true;
        this.#subject.store.setAlarm(null);
        return;
      case "alarm late":
        this.#subject.alarmDelayMs = Math.floor(amount * 180_000);
        return;
      case "clock forward":
        this.jumpedMs += Math.floor(amount * 60_000);
        this.#clock.moveTo(this.#clock.now() + Math.floor(amount * 60_000));
        return;
      case "clock back":
        this.#clock.moveTo(this.#clock.now() - Math.floor(amount * 200));
    }
  }

  #death(kind: (typeof DEATHS)[number], { amount }: Disturbance): void {
    switch (kind) {
      case "write refused":
        this.refuseNext = true;
        return;
      case "delete refused":
        this.refusedDeletes = Math.floor(amount * 14);
        return;
      case "crash":
        this.#subject.crash();
    }
  }

  /** Any event of a client that a deploy which cannot serve must refuse; gives the code of the refusal. */
  async refused(roll: number): Promise<string | undefined> {
    const operations: CallOperation[] = [
      action("add", "never"),
      { kind: "send", queue: "a", body: encodeValue("never") },
      { kind: "resolve" },
      { kind: "destroy" },
    ];
    const reply = await this.#deliver(operations[Math.floor(roll * operations.length)] ?? { kind: "resolve" }, {
      mode: roll < 0.5 ? "get" : "getOrCreate",
    });
    if (!reply) return undefined;
    return reply.ok ? "no refusal" : `${reply.error.group}/${reply.error.code}`;
  }

  /** An actor that is there answers; one that is not is found nowhere, and nothing is written. */
  async look(): Promise<string | undefined> {
    return this.#ask({ kind: "resolve" }, { mode: "get" });
  }

  /** One more message, for programs that wait without a limit. */
  async fill(queue: string): Promise<void> {
    return this.#tell(this.ledger.sent, `fill-${this.ledger.sent.length}`, {
      kind: "send",
      queue,
      body: encodeValue(`fill-${this.ledger.sent.length}`),
    });
  }

  async touch(): Promise<string | undefined> {
    return this.#ask(action("get"));
  }

  async #tell(list: Told[], id: string, operation: CallOperation): Promise<void> {
    const told: Told = { id, life: undefined };
    list.push(told);
    told.life = await this.#ask(operation);
    if (told.life !== undefined && list === this.ledger.sent) this.#watch.acknowledged(told.life, id);
  }

  /** The life that has done what it was asked; undefined if none has, or nobody knows. */
  async #ask(operation: CallOperation, creation: Creation = { mode: "getOrCreate" }): Promise<string | undefined> {
    const over = new Set(this.ledger.over);
    const reply = await this.#deliver(operation, creation);
    if (!reply?.ok) return undefined;
    if (over.has(reply.actorId))
      this.#watch.violation(`${operation.kind} was answered by ${reply.actorId}, which is destroyed`);
    this.#old.add(reply.actorId);
    return reply.actorId;
  }

  /** As the Worker sees it: a call to a process that dies is broken. */
  async #deliver(
    operation: CallOperation,
    creation: Creation,
    generation?: string,
  ): Promise<ReplyEnvelope | undefined> {
    const address =
      generation === undefined
        ? { name: this.#subject.name, key: this.#subject.key }
        : { name: "", key: [], generation };
    const reply = this.#subject.deliver({ v: ENVELOPE_VERSION, address, creation, operation }).catch(() => undefined);
    return Promise.race([reply, this.#subject.died().then(() => undefined)]);
  }

  /** Every life that ever answered is asked by its id: only the present one may answer, and nothing is created. */
  async #askOld(): Promise<void> {
    for (const life of this.#old) {
      const over = this.ledger.over.has(life);
      const reply = await this.#deliver({ kind: "resolve" }, { mode: "getOrCreate" }, parseActorId(life)?.generation);
      if (!reply) continue;
      if (reply.ok && reply.actorId !== life) this.#watch.violation(`${life} was asked, and ${reply.actorId} answered`);
      // It cannot say that it is gone while the store refuses to delete what is left of it.
      if (over && (reply.ok || !["not_found", "internal_error"].includes(reply.error.code)))
        this.#watch.violation(`${life} is destroyed, and answered ${reply.ok ? "" : reply.error.code}`);
    }
  }

  /** Not awaited: its sender waits beside everything else that happens. */
  #wait(id: string, queue: string, timeoutMs: number): void {
    const waiting = {
      id,
      life: undefined as string | undefined,
      deadline: this.#clock.now() + timeoutMs,
      outcome: undefined as string | undefined,
    };
    this.ledger.sent.push(waiting);
    this.ledger.waiting.push(waiting);
    const settle = (outcome: string): void => {
      waiting.outcome = outcome;
      const lateMs = this.#clock.now() - waiting.deadline;
      if (lateMs > 20_000 + this.jumpedMs)
        this.#watch.violation(`${id} was told ${outcome} ${lateMs} ms after its time`);
    };
    const target = { name: this.#subject.name, key: this.#subject.key, creation: { mode: "getOrCreate" } } as const;
    void this.#sender({ target, queue, body: encodeValue(id), wait: true, timeoutMs }).then(
      ({ actorId, status, reply }) => {
        waiting.life = actorId;
        settle(status);
        if (status === "completed" && (reply === undefined || decodeValue(reply) !== `did ${id}`))
          this.#watch.violation(`${id} got the reply of another message`);
        if (status === "completed") this.#watch.completed(actorId, id);
      },
      (error: { group?: string; code?: string }) =>
        settle(error.code === undefined ? "broken" : `${error.group}/${error.code}`),
    );
  }
}

function action(name: string, ...args: unknown[]): CallOperation {
  return { kind: "action", name, args: encodeValue(args) };
}

function isOneOf<K extends Kind>(kinds: readonly K[], kind: Kind): kind is K {
  return (kinds as readonly Kind[]).includes(kind);
}

function addLife(lives: Set<string>, life: string | undefined): void {
  if (life !== undefined) lives.add(life);
}
