/**
 * The start gate: from what is stored to an actor that serves, in one order (START-2).
 *
 * Invariants: before any user code of a start that has work to do, the lease is committed, so that a wake comes
 * whatever the user code does (ALARM-4); a start that fails leaves the storage as it was, but for that lease (START-3).
 */
import { decodeValue, encodeValue, formatActorId, STORAGE_FORMAT, own } from "../../protocol/index.js";
import type { Admitted } from "../connections/admission.js";
import { CREATE_TIMEOUT_MS, WAKE_TIMEOUT_MS, type CompiledActor } from "../definition/compiled-actor.js";
import { BEFORE_STATE, BEFORE_VARS, CallbackContext, READY, type Stage } from "../callbacks/callback-context.js";
import { admitCreator, askToCreate, type Creator } from "./creation.js";
import { callHook } from "../callbacks/call-hook.js";
import { legible } from "../activation/thrown.js";
import { foundLease, startFailed } from "../storage/lease.js";
import type { ActorPorts, Socket, StoreActivation } from "../ports.js";
import { KEYS, type ActorRecord } from "../storage/record.js";
import { ActorRuntime, type ActivationEnds } from "./actor-runtime.js";
import { firstRecord } from "./parts.js";
import { CreatorRefused } from "./start-gate.js";

/**
 * Makes a new actor: one commit after all hooks of its first start have run and its creator has been let in, or nothing at all.
 * Only then do its workflow and run handler begin. @throws CreatorRefused, and what the hooks of the start throw
 */
export async function createActor(
  actor: CompiledActor,
  ports: ActorPorts,
  store: StoreActivation,
  address: { readonly name: string; readonly key: readonly string[] },
  creator: Creator,
  ends: ActivationEnds,
): Promise<{ runtime: ActorRuntime; admitted: Admitted | undefined }> {
  const record: ActorRecord = {
    format: STORAGE_FORMAT,
    name: address.name,
    key: [...address.key],
    actorId: formatActorId(ports.objectId, ports.randomHex(8)),
    createdAt: ports.now(),
    ...firstRecord(actor),
  };
  const runtime = new ActorRuntime(actor, ports, store, record, ends);
  // Sockets of an earlier life of this key, if a crash left any, are ended.
  restoreConnections(runtime);
  try {
    runtime.wakes.setArmedAt(await store.getAlarm());
    const input = await refusable(askToCreate(runtime, creator));
    const admitted = await runtime.parts.together("creation", Infinity, () => create(runtime, creator, input));
    begin(runtime, false);
    return { runtime, admitted };
  } catch (error) {
    // Code of its hooks that still runs changes nothing any more.
    runtime.end(toError(error instanceof CreatorRefused ? error.cause : error));
    throw error;
  }
}

async function create(runtime: ActorRuntime, creator: Creator, input: unknown): Promise<Admitted | undefined> {
  const { config, hasState } = runtime.actor;
  await migrate(runtime, BEFORE_STATE, true);
  if (hasState) await makeState(runtime, input);
  await hook(runtime, "onCreate", config.onCreate, BEFORE_VARS, CREATE_TIMEOUT_MS, [input]);
  await wake(runtime, true);
  const admitted = await refusable(admitCreator(runtime, creator));
  runtime.putRecord({});
  if (runtime.record.workflow || runtime.isWorking) runtime.wakes.holdLease();
  else runtime.wakes.releaseLease();
  runtime.open();
  runtime.commitOrThrow();
  return admitted;
}

/** What goes wrong is its caller's own. */
function refusable<T>(asked: Promise<T>): Promise<T> {
  return asked.catch((error: unknown) => {
    throw new CreatorRefused(error);
  });
}

async function makeState(runtime: ActorRuntime, input: unknown): Promise<void> {
  const { config } = runtime.actor;
  const first: unknown = config.createState
    ? await hook(runtime, "createState", config.createState, BEFORE_STATE, CREATE_TIMEOUT_MS, [input])
    : config.state;
  // Through the codec: each actor has a copy of its own, and what cannot be stored is refused here.
  runtime.setState(decodeValue(encodeValue(first, { what: "state" })), undefined);
}

/** The event that starts an actor, where it matters. */
export interface StartedBy {
  /** The physical alarm, which it consumed: the time for which it was set, epoch ms; null if the platform does not say. */
  readonly alarmAt?: number | null;
  /** The end of this socket. */
  readonly closing?: Socket;
}

/** Loads an actor that exists. */
export async function loadActor(
  actor: CompiledActor,
  ports: ActorPorts,
  store: StoreActivation,
  record: ActorRecord,
  startedBy: StartedBy,
  ends: ActivationEnds,
): Promise<ActorRuntime> {
  const runtime = new ActorRuntime(actor, ports, store, record, ends);
  const { wakes } = runtime;
  const by = own(startedBy);
  const isByAlarm = by.alarmAt !== undefined;
  const armedAt = isByAlarm ? null : await store.getAlarm();
  const now = ports.now();
  const found = wakes.cutOffLease(by.alarmAt ?? armedAt, now);
  wakes.setArmedAt(armedAt);
  runtime.queue.expireReplies(now);
  runtime.open();
  runtime.sleep.startBegins(now, isByAlarm && !found);
  runtime.parts.tell("load");
  if (found) wakes.setLease(foundLease(found, now, runtime.counter, armedAt !== null && armedAt > now));
  else if (wakes.isDue(now)) wakes.holdLease();
  else if (isByAlarm) wakes.markStale();
  else wakes.repair();
  runtime.commitOrThrow();
  // Code that kills the object in this very turn would take the lease and the alarm with it (ALARM-4).
  if (wakes.lease) await runtime.confirmed();
  loadState(runtime);
  if (found) {
    runtime.cron.settleInterrupted();
    runtime.schedule.settleInterrupted();
  }
  restoreConnections(runtime, by.closing);
  try {
    await migrateExisting(runtime);
    // A release that has given the actor a state: it is made now, and what it was made of is no change.
    if (actor.hasState && !runtime.state) {
      await makeState(runtime, undefined);
      runtime.commitOrThrow();
    }
    await wake(runtime, false);
    begin(runtime, found !== undefined);
  } catch (error) {
    if (found && wakes.lease) {
      wakes.setLease(startFailed(wakes.lease));
      runtime.commit();
    }
    runtime.end(toError(error));
    throw error;
  }
  return runtime;
}

/** What a migration of a database changes is one commit, made when it has ended; a failed one changes nothing. */
async function migrateExisting(runtime: ActorRuntime): Promise<void> {
  const { parts, actor, state } = runtime;
  const stage = state ? BEFORE_VARS : BEFORE_STATE;
  if (parts.started.length === 0) return migrate(runtime, stage, false);
  if (!actor.config.onMigrate && !parts.started.some(({ hasMigration }) => hasMigration)) {
    for (const part of parts.started) {
      const opening = part.open();
      if (opening) await hook(runtime, "createClient", () => opening, stage, actor.options.onMigrateTimeout, []);
    }
    return;
  }
  runtime.hold();
  try {
    await parts.together("onMigrate", actor.options.onMigrateTimeout, async () => {
      await migrate(runtime, stage, false);
      runtime.open();
      runtime.commitOrThrow();
    });
  } catch (error) {
    runtime.discard();
    throw error;
  }
  runtime.connections.release(true);
}

/** The migrations of parts, then the actor's. */
async function migrate(runtime: ActorRuntime, stage: Stage, isNew: boolean): Promise<void> {
  const { config, options } = runtime.actor;
  const startedAt = runtime.ports.now();
  const timeoutMs = options.onMigrateTimeout;
  for (const part of runtime.parts.started)
    await hook(runtime, "onMigrate", () => part.migrate(), stage, timeoutMs, []);
  const leftMs = Math.max(1, timeoutMs - (runtime.ports.now() - startedAt));
  await hook(runtime, "onMigrate", config.onMigrate, stage, leftMs, [isNew]);
}

/** The hooks of every start, the first one included. */
async function wake(runtime: ActorRuntime, isNew: boolean): Promise<void> {
  const { config, hasVars, options } = runtime.actor;
  if (hasVars) {
    runtime.vars = config.createVars
      ? await hook(runtime, "createVars", config.createVars, BEFORE_VARS, options.createVarsTimeout, [undefined])
      : structuredClone(config.vars);
  }
  runtime.stateChanges.watch(isNew);
  await hook(runtime, "onWake", config.onWake, READY, WAKE_TIMEOUT_MS, []);
}

/** The actor serves: what is due begins, and its own code. */
function begin(runtime: ActorRuntime, careful: boolean): void {
  runtime.ready();
  runtime.commitOrThrow();
  runtime.cron.fireDue(runtime.background);
  runtime.schedule.fireDue(runtime.background);
  runtime.parts.tell("fireDue");
  runtime.connections.serveRestored();
  runtime.connections.tellLost();
  runtime.commitOrThrow();
  if (runtime.sleep.isOnlyForSleep) return;
  // First, so that a lease that was found stays, and its backoff grows, for a handler that dies again and again.
  startRunHandler(runtime);
  if (!runtime.lease) return;
  runtime.parts.tell("begin", careful);
  runtime.advanceSoon();
}

/**
 * The sockets that are still open, and the one whose close woke the actor, are connections again; those of an earlier
 * life of this key are ended.
 */
export function restoreConnections(runtime: ActorRuntime, closing?: Socket): void {
  runtime.connections.restore(runtime.store.list(KEYS.connections), closing);
}

/** What is stored of the state, as the live object. */
export function loadState(runtime: ActorRuntime): void {
  const bytes = runtime.store.get(KEYS.state);
  if (bytes) runtime.setState(decodeValue(bytes), bytes);
}

/** One call a start; when it ends, the actor idles until the next one (START-12). */
function startRunHandler(runtime: ActorRuntime): void {
  const { run } = runtime.actor;
  if (run)
    runtime.runHandler.start(() =>
      run(new CallbackContext(runtime, READY, { isRunHandler: true, waits: "run", logged: { hook: "run" } })),
    );
}

function toError(thrown: unknown): Error {
  const error = legible(thrown);
  return error instanceof Error ? error : new Error(String(error));
}

function hook(
  runtime: ActorRuntime,
  name: string,
  handler: unknown,
  stage: Stage,
  timeoutMs: number,
  args: readonly unknown[],
): Promise<unknown> {
  return callHook(runtime, handler, { name, stage, timeoutMs }, args);
}
