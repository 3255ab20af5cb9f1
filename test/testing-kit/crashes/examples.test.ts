import { describe, expect, it } from "vitest";
import type { ActorDefinitions } from "../../../src/actor/index.js";
import type { Registry } from "../../../src/entry/index.js";
import { crashEverywhere, type TestWorld } from "../../../src/entry/testing.js";
import { answerOf, EXAMPLE_RUNS, isLike, type ExampleRun } from "../../support/example-runs.js";

const LOOKS = 500;
/** So many moments of each example: all of them take a few seconds more (the most are 60). */
const MOMENTS = 20;
/** The world's time waits for a real timer, so this never times out in it. */
const WAITS_FOR_REAL = "timeout-fallback-actor";
const examples = EXAMPLE_RUNS.filter(({ name }) => name !== WAITS_FOR_REAL);

interface Handle {
  getState(): Promise<unknown>;
  send(queue: string, body: unknown): Promise<void>;
}

function stubApi(world: TestWorld): void {
  world.fetch.on("https://api.example.com/*", async (request: Request) => {
    const text = await request.text();
    const given = answerOf(new URL(request.url).pathname.slice(1), text === "" ? undefined : text);
    return new Response(JSON.stringify(given?.body), { status: given?.status ?? 504 });
  });
}

describe("each example comes to the same, wherever any of its actors dies or is evicted", () => {
  it.each(examples.map((example) => [example.name, example] as const))("%s", async (_, example: ExampleRun) => {
    let seen: unknown;
    const report = await crashEverywhere(example.registry as unknown as Registry<ActorDefinitions>, {
      maxCrashes: MOMENTS,
      settle: 0,
      run: async (world) => {
        if (Object.keys(example.effects).some((effect) => /^[A-Z]+ /.test(effect))) stubApi(world);
        const handles = world.client as unknown as Record<string, { getOrCreate(key: string): Handle }>;
        const handle = (handles[example.actor] as { getOrCreate(key: string): Handle }).getOrCreate("k");
        await handle.getState();
        for (const [queue, body] of example.sends ?? []) await handle.send(queue, body(world.now()));
        seen = await handle.getState();
        for (let looks = 0; looks < LOOKS && !isLike(seen, example.state); looks += 1) {
          await world.advance(example.lookMs ?? 1_000);
          seen = await handle.getState();
        }
      },
      check: () => expect(seen).toMatchObject(example.state),
    });
    expect(report).toMatchObject({ tried: Math.min(MOMENTS, report.moments), missed: 0 });
  });
});
