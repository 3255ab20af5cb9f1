/** Deploys that cannot serve the actor for a while: nothing of it may be lost, and it goes on by itself afterwards. */
import { decodeValue, encodeValue, NEWEST_STORAGE_FORMAT } from "../../src/protocol/index.js";
import { setup, type Registry } from "../../src/actor/index.js";
import type { World, WorldActor } from "../../src/testing/index.js";
import type { Disturber } from "./disturbances.js";
import { read } from "./invariants.js";
import { together } from "./time.js";

export interface Deploys {
  readonly whole: Registry;
  readonly withoutWorkflow: Registry;
}

export interface DeployStage {
  readonly world: World;
  readonly subject: WorldActor;
  readonly disturber: Disturber;
  readonly registries: Deploys;
  readonly random: () => number;
  readonly say: (what: string) => void;
}

const WITHOUT_ACTOR = setup({ use: {} }) as unknown as Registry;

/** The registry lacks the actor: every event is refused, and no row changes. */
export async function deployWithoutActor(stage: DeployStage): Promise<void> {
  stage.world.deploy(WITHOUT_ACTOR);
  await refuseEverything(stage, ["actor/not_registered", "actor/not_found"]);
  stage.world.deploy(stage.registries.whole);
}

/** A newer release wrote what is stored: this one refuses it, and no row changes. Then the newer one is back. */
export async function deployOlderCode(stage: DeployStage): Promise<void> {
  const { subject } = stage;
  subject.crash();
  const rows = subject.store.dump();
  const record = rows.get("a");
  if (!record) return;
  subject.store.restore(
    new Map(rows).set("a", encodeValue({ ...(decodeValue(record) as object), format: NEWEST_STORAGE_FORMAT + 1 })),
    subject.store.alarmAt,
  );
  await refuseEverything(stage, ["storage/newer_format"]);
  subject.crash();
  subject.store.restore(rows, subject.store.alarmAt);
}

/** The actor has lost its workflow: the history stays as it is, and actions are served. */
export async function deployWithoutWorkflow(stage: DeployStage): Promise<void> {
  const { world, subject, registries, random, say } = stage;
  world.deploy(registries.withoutWorkflow);
  const life = read(subject.store.dump())?.record;
  const before = history(subject);
  for (let events = 0; events < 3; events += 1) {
    await world.pass(Math.floor(random() * 90_000));
    if (random() < 0.5) await together(world, stage.disturber.touch());
  }
  const record = read(subject.store.dump())?.record;
  if (record && record.actorId === life?.actorId) {
    if (history(subject) !== before) say("a deploy without the workflow changed its history");
    if (record.workflow.status !== life.workflow.status) say("a deploy without the workflow changed its status");
  }
  world.deploy(registries.whole);
  // A life that began without a workflow gets one when it starts the next time.
  if (record?.workflow.status === "none") await together(world, stage.disturber.touch());
}

async function refuseEverything(stage: DeployStage, codes: readonly string[]): Promise<void> {
  const { world, subject, disturber, random, say } = stage;
  const before = dump(subject);
  const hadAlarm = subject.store.alarmAt !== null;
  for (let events = 0; events < 4; events += 1) {
    await world.pass(Math.floor(random() * 60_000));
    const code = await together(
      world,
      random() < 0.3 ? subject.fireAlarm().then(() => undefined) : disturber.refused(random()),
    );
    if (code !== undefined && !codes.includes(code)) say(`a deploy that cannot serve answered ${code}`);
    if (dump(subject) !== before) return say("a deploy that cannot serve changed what is stored");
  }
  if (hadAlarm && subject.store.alarmAt === null && !disturber.alarmIsLost)
    say("a deploy that cannot serve lost the alarm");
}

function dump(actor: WorldActor, prefix = ""): string {
  return [...actor.store.dump()]
    .filter(([key]) => key.startsWith(prefix))
    .map(([key, bytes]) => `${key}=${bytes.join()}`)
    .sort()
    .join("\n");
}

function history(actor: WorldActor): string {
  return dump(actor, "e/");
}
