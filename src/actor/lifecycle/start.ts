/**
 * A start: from stored rows to an actor that serves, always in the same order (START-2).
 *
 * Invariants: if there is work to do, the lease is committed before any user code of the start, so that an alarm comes
 * whatever that code does (ALARM-4); a failed start leaves the storage unchanged, except for that lease (START-5).
 */
import { decodeValue, encodeValue, formatActorId, STORAGE_FORMAT, own } from "../../protocol/index.js";
import type { Admitted } from "../connections/admission.js";
import { CREATE_TIMEOUT_MS, WAKE_TIMEOUT_MS, type CompiledActor } from "../definition/compiled-actor.js";
import { BEFORE_STATE, BEFORE_VARS, CallbackContext, READY, type Stage } from "../callbacks/callback-context.js";
import { admitCreator, askToCreate, type Creator } from "./creation.js";
import { callHook } from "../callbacks/call-hook.js";
import { legible } from "../activation/thrown.js";
import { foundLease, startFailed } from "../storage/lease.js";
import type { ActorPorts, DeliveredAlarm, Socket, StoreActivation } from "../ports.js";
import { KEYS, type ActorRecord } from "../storage/record.js";
import { ActorRuntime, type ActivationEnds } from "./actor-runtime.js";
import { firstRecord } from "./parts.js";
import { CreatorRefused } from "./start-gate.js";

/** An actor in its first activation. */
export interface Created {
  readonly runtime: ActorRuntime;
  readonly admitted: Admitted | undefined;
  /** False if the call that creates it must commit it, in this turn. */
  readonly isStored: boolean;
}

/**
 * Creates an actor: one commit once all hooks of its first start have run and its creator is admitted, or nothing. Then its
 * workflow and run handler begin. If all that begins is the creator's action, that commit is left to it.
 * @throws {CreatorRefused} when the creator is refused; whatever the hooks of the start throw
 */
export async function createActor(
  actor: CompiledActor,
  ports: ActorPorts,
  store: StoreActivation,
  address: { readonly name: string; readonly key: readonly string[] },
  creator: Creator,
  ends: ActivationEnds,
): Promise<Created> {
  const now = ports.now();
  const record: ActorRecord = {
    format: STORAGE_FORMAT,
    name: address.name,
    key: [...address.key],
    actorId: formatActorId(ports.objectId, ports.randomHex(8)),
    createdAt: now,
    ...firstRecord(actor, now),
  };
  const runtime = new ActorRuntime(actor, ports, store, record, ends);
  // Closes sockets of an earlier generation of this key, if a crash left any.
  restoreConnections(runtime);
  try {
    runtime.alarm.setArmedAt(await store.getAlarm());
    const input = await refusable(askToCreate(runtime, creator));
    const made = await runtime.parts.together("creation", Infinity, () => create(runtime, creator, input));
    if (made.isStored) begin(runtime, false);
    else runtime.ready();
    return { runtime, ...made };
  } catch (error) {
    // Code of its hooks that still runs can no longer change anything.
    runtime.end(toError(error instanceof CreatorRefused ? error.cause : error));
    throw error;
  }
}

async function create(runtime: ActorRuntime, creator: Creator, input: unknown): Promise<Omit<Created, "runtime">> {
  const { config, hasState } = runtime.actor;
  await migrate(runtime, BEFORE_STATE, true);
  if (hasState) await makeState(runtime, input);
  await hook(runtime, "onCreate", config.onCreate, BEFORE_VARS, CREATE_TIMEOUT_MS, [input]);
  await wake(runtime, true);
  const admitted = await refusable(admitCreator(runtime, creator));
  runtime.putRecord({});
  if (runtime.record.workflow || runtime.isWorking) runtime.alarm.holdLease();
  else runtime.alarm.releaseLease();
  runtime.open();
  const isStored = !isLeftToCall(runtime, creator);
  if (isStored) runtime.commitOrThrow();
  return { admitted, isStored };
}

/**
 * Whether the creator's action runs in this turn and is all that begins: nothing of user code comes before it, so its
 * first changes and the creation are one write (START-3). `onStateChange` would hear of the action's changes, but not of
 * the first state, which only a commit of its own tells apart.
 */
function isLeftToCall(runtime: ActorRuntime, { caller, operation }: Creator): boolean {
  const { actor, alarm, connections, parts, ports } = runtime;
  if (operation.kind !== "action" || connections.isSeen(caller) || actor.config.onStateChange) return false;
  return !actor.run && parts.started.length === 0 && !alarm.lease && !alarm.isDue(ports.now());
}

/** Marks an error as a refusal of the creator. */
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
  // Copies through the codec, so each actor has its own state, and refuses what cannot be stored.
  runtime.setState(decodeValue(encodeValue(first, { what: "state" })), undefined);
}

/** The event that starts an actor, where the start depends on it. */
export interface StartedBy {
  /** The alarm that the start consumed. */
  readonly alarm?: DeliveredAlarm;
  /** The socket whose close started the actor. */
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
  const { alarm } = runtime;
  const by = own(startedBy);
  const isByAlarm = by.alarm !== undefined;
  const armedAt = isByAlarm ? null : await store.getAlarm();
  const now = ports.now();
  const found = alarm.cutOffLease(by.alarm?.scheduledAt ?? armedAt, now);
  alarm.setArmedAt(armedAt);
  runtime.queue.expireReplies(now);
  runtime.open();
  runtime.sleep.startBegins(now, isByAlarm && !found);
  runtime.parts.tell("load");
  if (found) alarm.setLease(foundLease(found, now, runtime.counter, armedAt !== null && armedAt > now));
  else if (alarm.isDue(now)) alarm.holdLease();
  else if (isByAlarm) alarm.markStale();
  else alarm.repair();
  runtime.commitOrThrow();
  await runtime.confirmedLease(by.alarm);
  loadState(runtime);
  if (found) {
    runtime.cron.settleInterrupted();
    runtime.schedule.settleInterrupted();
  }
  restoreConnections(runtime, by.closing);
  try {
    await migrateExisting(runtime);
    // A new release gave the actor a state: it is created now, which is not a change for `onStateChange`.
    if (actor.hasState && !runtime.state) {
      await makeState(runtime, undefined);
      runtime.commitOrThrow();
    }
    await wake(runtime, false);
    begin(runtime, found !== undefined);
  } catch (error) {
    if (found && alarm.lease) {
      alarm.setLease(startFailed(alarm.lease));
      runtime.commit();
    }
    runtime.end(toError(error));
    throw error;
  }
  return runtime;
}

/** Commits the changes of a database migration at its end, together. A failed migration changes nothing. */
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

/** Runs the migrations of parts, then the actor's. */
async function migrate(runtime: ActorRuntime, stage: Stage, isNew: boolean): Promise<void> {
  const { config, options } = runtime.actor;
  const startedAt = runtime.ports.now();
  const timeoutMs = options.onMigrateTimeout;
  for (const part of runtime.parts.started)
    await hook(runtime, "onMigrate", () => part.migrate(), stage, timeoutMs, []);
  const leftMs = Math.max(1, timeoutMs - (runtime.ports.now() - startedAt));
  await hook(runtime, "onMigrate", config.onMigrate, stage, leftMs, [isNew]);
}

/** Runs the hooks of every start, including the first. */
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

/** The actor serves from now on: begins what is due, its run handler and its parts. */
function begin(runtime: ActorRuntime, careful: boolean): void {
  runtime.ready();
  runtime.commitOrThrow();
  runtime.cron.fireDue(runtime.background);
  runtime.schedule.fireDue(runtime.background);
  runtime.parts.tell("fireDue");
  runtime.connections.serveRestored();
  runtime.connections.callLostHooks();
  runtime.commitOrThrow();
  if (runtime.sleep.isOnlyForSleep) return;
  // Before the lease is checked: a handler that crashes again and again must keep a found lease, whose backoff grows.
  startRunHandler(runtime);
  if (!runtime.lease) return;
  runtime.parts.tell("begin", careful);
  runtime.advanceSoon();
}

/**
 * Restores the connections of open sockets, and of the socket whose close started the actor. Closes sockets of an earlier
 * generation of this key.
 */
export function restoreConnections(runtime: ActorRuntime, closing?: Socket): void {
  runtime.connections.restore(runtime.store.list(KEYS.connections), closing);
}

/** Loads the stored state as the live object. */
export function loadState(runtime: ActorRuntime): void {
  const bytes = runtime.store.get(KEYS.state);
  if (bytes) runtime.setState(decodeValue(bytes), bytes);
}

/** Calls the run handler, once per start. When it ends, the actor idles until the next start (START-12). */
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
