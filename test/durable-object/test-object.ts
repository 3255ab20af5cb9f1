import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import {
  decodeValue,
  encodeValue,
  ENVELOPE_VERSION,
  fromErrorData,
  objectName,
  type CallEnvelope,
  type Creation,
  type CallOperation,
  type ReplyEnvelope,
} from "../../src/protocol/index.js";
import { holdsLease } from "../../src/testing/index.js";
import { KILLED } from "../support/kill.js";
import { liveObjects, probes } from "../support/worker.js";

const { ACTORS } = env as unknown as { ACTORS: DurableObjectNamespace };
type Stub = DurableObjectStub & { call(envelope: CallEnvelope): Promise<ReplyEnvelope> };

const HOUR_MS = 3_600_000;
const machineNow = Date.now.bind(Date);
let aheadMs = HOUR_MS;

/**
 * The clock of the objects: it runs, but hours ahead of the machine's, so that no alarm comes before the test wants it;
 * the platform's own alarms follow the machine.
 */
Date.now = () => machineNow() + aheadMs;

export const clock = {
  now: (): number => Date.now(),
  /** That of the machine, by which the platform runs alarms. */
  platformNow: machineNow,
  /** Moves forward to a time; one that has passed changes nothing. */
  moveTo(at: number): void {
    aheadMs += Math.max(0, at - Date.now());
  },
};

/** Polls of `settle` before it gives up. */
const MAX_POLLS = 4_000;
const FAR_MS = 180 * 24 * HOUR_MS;
const MAX_ALARMS = 300;

/** The object behind one actor key, as a test handles it. */
export class TestObject {
  readonly name: string;
  readonly key: readonly string[];
  readonly id: DurableObjectId;
  #died = false;

  constructor(name: string, ...key: string[]) {
    this.name = name;
    this.key = key;
    this.id = ACTORS.idFromName(objectName(name, key));
    objects.set(this.id.toString(), this);
  }

  /** A new one each time: a stub is dead once its object was aborted. */
  get stub(): Stub {
    return ACTORS.get(this.id) as Stub;
  }

  send(operation: CallOperation, creation: Creation = { mode: "getOrCreate" }): Promise<ReplyEnvelope> {
    return this.stub.call({ v: ENVELOPE_VERSION, address: { name: this.name, key: this.key }, creation, operation });
  }

  /** The result of an action; the actor is created if there is none. */
  async call(action: string, ...args: unknown[]): Promise<unknown> {
    return resultOf(await this.action(action, args));
  }

  action(action: string, args: unknown[] = [], creation?: Creation): Promise<ReplyEnvelope> {
    return this.send({ kind: "action", name: action, args: encodeValue(args) }, creation);
  }

  async enqueue(queue: string, body: unknown): Promise<void> {
    resultOf(await this.send({ kind: "send", queue, body: encodeValue(body) }));
  }

  /** Runs inside the object, past its start gate. */
  inside<T>(body: (ctx: DurableObjectState) => T | Promise<T>): Promise<T> {
    return runInDurableObject(this.stub as DurableObjectStub, (_instance, ctx) => body(ctx));
  }

  keys(): Promise<string[]> {
    return this.inside((ctx) => [...ctx.storage.kv.list()].map(([key]) => key));
  }

  alarmAt(): Promise<number | null> {
    return this.inside((ctx) => ctx.storage.getAlarm());
  }

  /** Rows written by this instance of the object so far, without its alarm writes, and those. */
  writes(): Promise<{ rows: number; alarms: number }> {
    return this.inside((ctx) => {
      const [row] = [...ctx.storage.sql.exec<{ n: number }>("select total_changes() as n")];
      const alarms = liveObjects.get(this.id.toString())?.alarmWrites ?? 0;
      // The platform's count has the alarm's row in it (measured in rows.test.ts).
      return { rows: (row?.n ?? 0) - alarms, alarms };
    });
  }

  /** True when a start of the object would find that work was cut off. */
  holdsLease(): Promise<boolean> {
    return this.inside(async (ctx) => holdsLease(new Map(rowsIn(ctx)), await ctx.storage.getAlarm(), Date.now()));
  }

  /** Runs `alarm()` now, if the object has one; the clock stays. */
  async alarm(): Promise<boolean> {
    // The platform says for when it was set; an alarm run by hand does not.
    probes.alarmAt = (await this.alarmAt()) ?? undefined;
    return runDurableObjectAlarm(this.stub as DurableObjectStub);
  }

  evict(): Promise<void> {
    return evictDurableObject(this.stub as DurableObjectStub);
  }

  /** For code that runs inside the object: kills it at this instruction, nothing after it runs. */
  die(): void {
    this.#died = true;
    liveObjects.get(this.id.toString())?.ctx.abort(KILLED);
  }

  /**
   * Waits until the object has parked or died: there is nothing to await, since its work belongs to no event. A parked
   * one has no lease.
   */
  async settle(): Promise<void> {
    for (let polls = 0; polls < MAX_POLLS; polls += 1) {
      if (this.#died || !(await this.holdsLease())) return;
      await scheduler.wait(1);
    }
    throw new Error(`${this.name} ${this.key.join("/")} does not come to rest`);
  }

  /**
   * Nothing but alarms, each at its time, until none is left but that of a wait for a message, a year ahead; `parked`
   * runs before each. Gives their number.
   */
  async runAlarms(parked: () => Promise<void> = async () => {}): Promise<number> {
    for (let alarms = 0; alarms < MAX_ALARMS; alarms += 1) {
      await this.settle();
      this.#died = false;
      const at = await this.alarmAt();
      if (at === null || at > clock.now() + FAR_MS) return alarms;
      await parked();
      clock.moveTo(at);
      // It rejects when the object dies in it.
      await this.alarm().catch(() => {});
    }
    throw new Error(`${this.name} ${this.key.join("/")} still has an alarm after ${MAX_ALARMS} of them`);
  }
}

const objects = new Map<string, TestObject>();

function rowsIn(ctx: DurableObjectState): [key: string, bytes: Uint8Array][] {
  return [...ctx.storage.kv.list<Uint8Array>()];
}

/** The test's object that has this key. */
export function objectOf(name: string, key: readonly string[]): TestObject {
  const id = ACTORS.idFromName(objectName(name, key)).toString();
  const found = objects.get(id);
  if (!found) throw new Error(`No test object for ${name} ${key.join("/")}`);
  return found;
}

export function resultOf(reply: ReplyEnvelope): unknown {
  if (!reply.ok) throw fromErrorData(reply.error, reply.status);
  return reply.output && decodeValue(reply.output);
}

/** Group, code, status and metadata of a call that failed; the id under which an internal error is logged is left out. */
export function failureOf(reply: ReplyEnvelope): { code: string; status: number; metadata?: unknown } {
  if (reply.ok) throw new Error("The call was expected to fail");
  const { group, code, metadata } = reply.error;
  const { errorId: _errorId, ...rest } = (metadata ?? {}) as Record<string, unknown>;
  return {
    code: `${group}/${code}`,
    status: reply.status,
    ...(Object.keys(rest).length === 0 ? {} : { metadata: rest }),
  };
}
