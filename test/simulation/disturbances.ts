/** What clients and the platform do to an actor while its workflow runs: all of it must leave the promises kept. */
import { encodeValue } from "../../src/protocol/index.js";
import type { ManualClock, World, WorldActor } from "../../src/testing/index.js";

export interface Disturbance {
  readonly kind:
    | "send"
    | "add"
    | "schedule"
    | "spurious alarm"
    | "alarm twice"
    | "alarm lost"
    | "alarm late"
    | "clock forward"
    | "clock back"
    | "write refused"
    | "crash";
  readonly atMs: number;
  readonly amount: number;
  readonly queue: string;
}

const KINDS: readonly Disturbance["kind"][] = [
  "send", "send", "add", "add", "schedule", "spurious alarm", "alarm twice", "alarm lost", "alarm late", "clock forward", "clock back", "write refused", "crash",
];

export function randomDisturbances(random: () => number, crashRate: number): Disturbance[] {
  const count = Math.floor(random() * 12);
  return Array.from({ length: count }, () => ({
    kind: KINDS[Math.floor(random() * KINDS.length)] ?? "send",
    atMs: Math.floor(random() * 2_500),
    amount: random(),
    queue: random() < 0.6 ? "a" : "b",
  }))
    .filter((each) => crashRate > 0 || (each.kind !== "crash" && each.kind !== "write refused"))
    .sort((a, b) => a.atMs - b.atMs);
}

/** What clients were told, to be compared with what the actor has come to. */
export interface Ledger {
  readonly sent: { readonly id: string; readonly acknowledged: boolean }[];
  readonly added: { readonly id: string; readonly acknowledged: boolean }[];
  readonly scheduled: { readonly id: string; readonly acknowledged: boolean }[];
}

export class Disturber {
  readonly ledger: Ledger = { sent: [], added: [], scheduled: [] };
  /** The next commit is refused by the store. */
  refuseNext = false;
  /** The platform has dropped an alarm at least once. */
  alarmIsLost = false;
  readonly #world: World;
  readonly #subject: WorldActor;
  readonly #clock: ManualClock;

  constructor(world: World, subject: WorldActor, clock: ManualClock) {
    this.#world = world;
    this.#subject = subject;
    this.#clock = clock;
  }

  async apply({ kind, amount, queue }: Disturbance, index: number): Promise<void> {
    const id = `${kind}-${index}`;
    switch (kind) {
      case "send": {
        const body = encodeValue(id);
        const sent = this.#subject.send({ mode: "getOrCreate" }, { kind: "send", queue, body });
        this.ledger.sent.push({ id, acknowledged: await sent.then((reply) => reply.ok, () => false) });
        return;
      }
      case "add":
        this.ledger.added.push({ id, acknowledged: await this.#call("add", id) });
        return;
      case "schedule":
        this.ledger.scheduled.push({ id, acknowledged: await this.#call("schedule", id, Math.floor(amount * 400)) });
        return;
      case "spurious alarm":
        return this.#subject.fireAlarm();
      case "alarm twice":
        if (!this.#subject.alarmIsDue) return;
        await this.#subject.fireAlarm();
        return this.#subject.fireAlarm();
      case "alarm lost":
        this.alarmIsLost = true;
        this.#subject.store.setAlarm(null);
        return;
      case "alarm late":
        this.#subject.alarmDelayMs = Math.floor(amount * 180_000);
        return;
      case "clock forward":
        this.#clock.moveTo(this.#clock.now() + Math.floor(amount * 60_000));
        return;
      case "clock back":
        this.#clock.moveTo(this.#clock.now() - Math.floor(amount * 200));
        return;
      case "write refused":
        this.refuseNext = true;
        return;
      case "crash":
        this.#subject.crash();
        return this.#world.turn();
    }
  }

  async #call(action: string, ...args: unknown[]): Promise<boolean> {
    return this.#subject.call(action, ...args).then(
      () => true,
      () => false,
    );
  }
}
