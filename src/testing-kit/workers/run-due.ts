import { runInDurableObject } from "cloudflare:test";
import { deadlinesIn, holdsLease } from "../../testing/index.js";
import { objectOf, type ActorUnderTest } from "./object-of.js";
import type { ObjectTime } from "./object-time.js";
import { timeOf } from "./objects-under-test.js";
import { hangs } from "./steps.js";

const FAR_MS = 180 * 24 * 3_600_000;

/**
 * Lets an actor's time pass up to what comes next (the end of a sleep, a timeout, a retry, a schedule), and lets that happen.
 * Its own clock moves, and stays moved; no stored time does, and no other actor's clock. Resolves when the actor has nothing
 * left to do until its time passes again, or something reaches it: false if nothing was to come.
 *
 * Time in the actor is what `c.schedule`, sleeps and timeouts see. `Date.now()` of user code stays the machine's.
 *
 * @example
 *     await order.send("approvals", { by: "ada" });
 *     await runDue(order); // the sleep of three days is over
 * @throws TypeError when it is neither a handle nor a stub
 */
export function runDue(actor: ActorUnderTest): Promise<boolean> {
  return runInDurableObject(objectOf(actor), async (instance: DurableObject, state) => {
    const { id, storage } = state;
    const time = timeOf(id.toString());
    // A step that hangs is ended by time alone.
    const isStill = (): boolean => hangs(id.toString());
    await resume(instance, state, time);
    await time.atRest(state, isStill);
    const alarmAt = await storage.getAlarm();
    const rows = new Map(storage.kv.list<Uint8Array>());
    const at = isStill() ? nextAtWork(rows, time) : nextAt(rows, alarmAt, time);
    if (at === Number.POSITIVE_INFINITY) return false;
    time.moveTo(at);
    if (alarmAt !== null && alarmAt <= time.now()) await deliver(alarmAt, instance, state);
    await time.atRest(state, isStill);
    return true;
  });
}

/**
 * Lets an object that was killed at work take it up again, by the alarm that guards the work: the platform's comes by the
 * machine's clock, which this one may be days ahead of.
 */
async function resume(instance: DurableObject, state: DurableObjectState, time: ObjectTime): Promise<void> {
  const alarmAt = await state.storage.getAlarm();
  const rows = new Map(state.storage.kv.list<Uint8Array>());
  if (time.isAwake || alarmAt === null || !holdsLease(rows, alarmAt, time.now())) return;
  time.moveTo(alarmAt);
  await deliver(alarmAt, instance, state);
}

async function deliver(alarmAt: number, instance: DurableObject, { storage }: DurableObjectState): Promise<void> {
  await storage.deleteAlarm();
  await instance.alarm?.({ scheduledTime: alarmAt, isRetry: false, retryCount: 0 } as AlarmInvocationInfo);
}

/** When something is to come, epoch ms; infinite if nothing is: the alarm of a wait for a message alone is a year ahead. */
function nextAt(rows: ReadonlyMap<string, Uint8Array>, alarmAt: number | null, time: ObjectTime): number {
  const waitsOnly = alarmAt === null || alarmAt > time.now() + FAR_MS;
  const timerAt = time.nextTimerAt ?? Number.POSITIVE_INFINITY;
  const first = Math.min(timerAt, waitsOnly ? Number.POSITIVE_INFINITY : alarmAt);
  return deadlinesIn(rows).reduce((earliest, at) => Math.min(earliest, at), first);
}

/** The same of an object at work: its alarm guards that work, and a wait that is over is not marked yet. */
function nextAtWork(rows: ReadonlyMap<string, Uint8Array>, time: ObjectTime): number {
  const timerAt = time.nextTimerAt ?? Number.POSITIVE_INFINITY;
  return deadlinesIn(rows).reduce((first, at) => (at > time.now() ? Math.min(first, at) : first), timerAt);
}
