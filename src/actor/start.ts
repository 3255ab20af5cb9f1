/**
 * The start gate: from what is stored to an actor that serves, in the documented order (`spec/api.md` A.3).
 *
 * Invariants: before any user code of a start that has work to do, the lease is committed, so that a wake comes
 * whatever the user code does (D4); a start that fails leaves the storage as it was, but for that lease (decision 26).
 */
import { ActorError, decodeValue, encodeValue, formatActorId, STORAGE_FORMAT } from "../protocol/index.js";
import { CREATE_TIMEOUT_MS, WAKE_TIMEOUT_MS, type CompiledActor, type Handler } from "./compile.js";
import { BEFORE_STATE, BEFORE_VARS, CallbackContext, READY, type Stage } from "./context.js";
import { decodeLease, foundLease, startFailed } from "./lease.js";
import type { ActorPorts, StoreActivation } from "./ports.js";
import { KEYS, type ActorRecord } from "./record.js";
import { ActorRuntime } from "./runtime.js";

/** Makes a new actor: one commit after `onCreate`, or nothing at all. */
export async function createActor(
  actor: CompiledActor,
  ports: ActorPorts,
  store: StoreActivation,
  address: { readonly name: string; readonly key: readonly string[] },
  input: unknown,
): Promise<ActorRuntime> {
  const record: ActorRecord = {
    format: STORAGE_FORMAT,
    name: address.name,
    key: [...address.key],
    actorId: formatActorId(ports.objectId, ports.randomHex(8)),
    createdAt: ports.now(),
    ...(actor.workflow ? { workflow: { status: "running" } as const } : {}),
  };
  const runtime = new ActorRuntime(actor, ports, store, record);
  runtime.loaded(undefined, await store.getAlarm());
  const { config, options } = actor;
  await callHook(runtime, "onMigrate", config.onMigrate, BEFORE_STATE, options.onMigrateTimeout, [true]);
  if (actor.hasState) {
    const first: unknown = config.createState
      ? await callHook(runtime, "createState", config.createState, BEFORE_STATE, CREATE_TIMEOUT_MS, [input])
      : config.state;
    // Through the codec: each actor has a copy of its own, and what cannot be stored is refused here.
    runtime.setState(decodeValue(encodeValue(first, { what: "state" })), undefined);
  }
  await callHook(runtime, "onCreate", config.onCreate, BEFORE_VARS, CREATE_TIMEOUT_MS, [input]);
  runtime.state?.encodeChanges();
  runtime.putRecord({});
  if (actor.workflow) runtime.holdLease();
  runtime.open();
  runtime.commitOrThrow();
  await finishStart(runtime);
  return runtime;
}

/** Loads an actor that exists. `isAlarm`: the physical alarm was consumed by the event that starts it. */
export async function loadActor(
  actor: CompiledActor,
  ports: ActorPorts,
  store: StoreActivation,
  record: ActorRecord,
  isAlarm: boolean,
): Promise<ActorRuntime> {
  const runtime = new ActorRuntime(actor, ports, store, record);
  const stateBytes = store.get(KEYS.state);
  const leaseBytes = store.get(KEYS.lease);
  const found = leaseBytes && decodeLease(leaseBytes);
  const armedAt = isAlarm ? null : await store.getAlarm();
  const now = ports.now();
  runtime.loaded(found, armedAt);
  runtime.open();
  if (found) {
    runtime.setLease(foundLease(found, now, runtime.counter, armedAt !== null && armedAt > now));
  } else if (runtime.isDue(now)) {
    runtime.holdLease();
  } else if (isAlarm) {
    runtime.alarmConsumed();
  } else {
    runtime.repairAlarm();
  }
  runtime.commitOrThrow();
  if (stateBytes) runtime.setState(decodeValue(stateBytes), stateBytes);
  try {
    await callHook(runtime, "onMigrate", actor.config.onMigrate, stateBytes ? BEFORE_VARS : BEFORE_STATE, actor.options.onMigrateTimeout, [false]);
    await finishStart(runtime, found !== undefined);
  } catch (error) {
    if (found && runtime.lease) {
      runtime.setLease(startFailed(runtime.lease));
      runtime.commit();
    }
    throw error;
  }
  return runtime;
}

async function finishStart(runtime: ActorRuntime, careful = false): Promise<void> {
  const { config, hasVars, options } = runtime.actor;
  if (hasVars) {
    runtime.vars = config.createVars
      ? await callHook(runtime, "createVars", config.createVars, BEFORE_VARS, options.createVarsTimeout, [undefined])
      : structuredClone(config.vars);
  }
  await callHook(runtime, "onWake", config.onWake, READY, WAKE_TIMEOUT_MS, []);
  runtime.commitOrThrow();
  if (runtime.lease) runtime.workflow.start(careful);
}

/** @throws actor/callback_timed_out after `timeoutMs`, actor/restarting, and whatever the hook throws */
async function callHook(
  runtime: ActorRuntime,
  name: string,
  hook: unknown,
  stage: Stage,
  timeoutMs: number,
  args: readonly unknown[],
): Promise<unknown> {
  if (typeof hook !== "function") return undefined;
  const returned = (hook as Handler)(new CallbackContext(runtime, stage), ...args);
  if (typeof (returned as PromiseLike<unknown> | undefined)?.then !== "function") return returned;
  return new Promise((resolve, reject) => {
    const timer = {
      at: runtime.ports.now() + timeoutMs,
      fire: (): void => {
        const message = `\`${name}\` did not finish within ${timeoutMs} ms`;
        reject(new ActorError("actor", "callback_timed_out", message, { metadata: { callback_name: name, duration_ms: timeoutMs } }));
      },
    };
    runtime.timers.add(timer);
    (returned as PromiseLike<unknown>).then(resolve, reject).then(() => runtime.timers.remove(timer));
  });
}
