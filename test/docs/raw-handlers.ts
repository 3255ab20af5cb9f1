import { expect } from "vitest";
import { Stage, type Claims, type Example, type Player } from "./stage.js";

const feedOf = (example: Example): Player => new Stage(example).actor("feed");
const post = async ({ actor }: Player, body: string): Promise<unknown> =>
  (await actor.fetch("/lines", { method: "POST", body })).json();

/** Reads the parts of a body as they come. */
async function readerOf({ actor }: Player, headers: Record<string, string> = {}) {
  const response = await actor.fetch("/events", { headers });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  return {
    response,
    next: async () => new TextDecoder().decode((await reader.read()).value),
    cancel: () => reader.cancel(),
  };
}

// What the page says of callers, and of the platform, is shown in test/in-worker/raw-requests.test.ts, raw-sockets.test.ts and
// client-connections.test.ts.
export const rawHandlers: Readonly<Record<string, Claims>> = {
  "feed.ts": {
    "tells what there is, then each line as it comes": async (example) => {
      const feed = feedOf(example);
      expect(await post(feed, "one")).toEqual({ id: 1 });
      const { response, next } = await readerOf(feed);
      expect(response.headers.get("content-type")).toBe("text/event-stream");
      expect(await next()).toBe('id: 1\ndata: "one"\n\n');
      expect(await post(feed, "two\nlines")).toEqual({ id: 2 });
      expect(await next()).toBe('id: 2\ndata: "two\\nlines"\n\n');
    },
    "gives one that comes back what it missed, also after a crash": async (example) => {
      const feed = feedOf(example);
      for (const line of ["one", "two", "three"]) await post(feed, line);
      feed.crash();
      const { next } = await readerOf(feed, { "last-event-id": "1" });
      expect([await next(), await next()]).toEqual(['id: 2\ndata: "two"\n\n', 'id: 3\ndata: "three"\n\n']);
    },
    "goes on without those that have gone, and knows no other path": async (example) => {
      const feed = feedOf(example);
      const { cancel } = await readerOf(feed);
      await cancel();
      await feed.world.settle();
      expect(await post(feed, "one")).toEqual({ id: 1 });
      expect((await feed.actor.fetch("/lines")).status).toBe(404);
    },
  },
  "pad.ts": {
    "shows each change to all others, over an eviction, and greets nobody": async (example) => {
      const { world, actor } = new Stage(example).actor("pad");
      const [ada, bob] = [await actor.connect({ raw: true }), await actor.connect({ raw: true })];
      await ada.sayRaw("Dear Sir");
      await actor.evict();
      await bob.sayRaw("Dear Madam");
      await bob.sayRaw("");
      await world.settle();
      expect([ada.frames, bob.frames]).toEqual([["Dear Madam"], ["Dear Sir", "Dear Madam"]]);
    },
    "closes one that sends bytes": async (example) => {
      const { world, actor } = new Stage(example).actor("pad");
      const ada = await actor.connect({ raw: true });
      await ada.sayRaw(new Uint8Array([1]));
      await world.settle();
      expect(ada.end).toEqual({ code: 1003, reason: "text only" });
    },
  },
};
