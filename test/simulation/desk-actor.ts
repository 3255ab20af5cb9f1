import { actor, workflow, type AnyActorDefinition } from "../../src/actor/index.js";
import type { ManualClock } from "../../src/testing/index.js";

/** What the desk remembers of one life. */
export interface DeskState {
  /** The id of the actor: another one for each life of the key. */
  life: string;
  /** Announcements made. */
  n: number;
  /** Orders whose steps have ended, in order. */
  booked: string[];
  shipped: string[];
  /** Who is present, by the params of their connection. */
  present: Record<string, number>;
  /** Raw requests served, by their name; parts of answers made; frames of raw sockets answered. */
  hits: Record<string, number>;
  parts: number;
  frames: number;
}

// oxlint-disable-next-line typescript/no-explicit-any -- contexts of actions, hooks and steps share one signature here
type Context = any;

/**
 * An actor with everything that a page may be connected to: a workflow that takes orders off a queue, books them, sleeps
 * and ships them, and tells of each; actions, events, presence, raw requests and raw sockets. What must happen exactly
 * once stands after the last await.
 */
export function deskActor(clock: ManualClock): AnyActorDefinition {
  const slowly = (c: Context): Promise<void> | undefined => (c.state.n % 3 === 0 ? clock.delay(2) : undefined);
  return actor({
    createState: (c: Context): DeskState => ({
      life: c.actorId,
      n: 0,
      booked: [],
      shipped: [],
      present: {},
      hits: {},
      parts: 0,
      frames: 0,
    }),
    connState: { said: 0 },
    onBeforeConnect: slowly,
    onConnect: async (c: Context, conn: Context) => {
      // Before the first await: what onDisconnect undoes is there, wherever onConnect is cut off.
      came(c, conn, 1);
      await slowly(c);
    },
    onDisconnect: async (c: Context, conn: Context) => {
      await slowly(c);
      came(c, conn, -1);
    },
    run: workflow((ctx: Context) => takeOrders(ctx, clock)),
    onRequest: async (c: Context, request: Request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/end") c.destroy();
      if (pathname === "/stream") return new Response(parts(c, clock));
      const name = await request.text();
      await slowly(c);
      c.state.hits[name] = (c.state.hits[name] ?? 0) + 1;
      announce(c);
      return Response.json({ life: c.actorId });
    },
    onWebSocket: async (c: Context, socket: Context) => {
      await slowly(c);
      socket.addEventListener("message", async () => {
        await slowly(c);
        c.state.frames += 1;
        socket.send(`${c.state.frames} ${c.actorId}`);
      });
    },
    actions: ACTIONS,
    options: { canHibernateWebSocket: true },
  } as never) as AnyActorDefinition;
}

function parts(c: Context, clock: ManualClock): ReadableStream<Uint8Array> {
  let made = 0;
  return new ReadableStream({
    pull: async (controller) => {
      await clock.delay(2);
      c.state.parts += 1;
      controller.enqueue(new TextEncoder().encode(`${c.state.parts} ${c.actorId}`));
      if ((made += 1) === 3) controller.close();
    },
  });
}

async function takeOrders(ctx: Context, clock: ManualClock): Promise<void> {
  await ctx.loop("orders", async (loop: Context) => {
    const { body } = await loop.queue.next("order", { names: ["orders"] });
    await loop.step("book", async (step: Context) => {
      announce(step);
      await clock.delay(3);
      step.state.booked.push(body);
      announce(step);
    });
    await loop.sleep("pack", 400);
    await loop.step("ship", (step: Context) => {
      step.state.shipped.push(body);
      announce(step);
    });
  });
}

const ACTIONS = {
  announce: (c: Context) => {
    c.conn.state.said += 1;
    return announce(c);
  },
  order: async (c: Context, name: string) => {
    await c.queue.send("orders", name);
    return c.actorId as string;
  },
  fail: (c: Context) => {
    announce(c);
    throw new Error("after a change");
  },
  leave: (c: Context) => c.conn.disconnect("goodbye"),
  end: (c: Context) => c.destroy(),
  touch: () => {},
};

function announce(c: Context): number {
  c.state.n += 1;
  c.broadcast("n", c.state.n);
  return c.state.n as number;
}

/** Counts who is present. */
function came(c: Context, conn: Context, by: number): void {
  if (conn.params === undefined) return;
  c.state.present[conn.params] = (c.state.present[conn.params] ?? 0) + by;
  if (c.state.present[conn.params] === 0) delete c.state.present[conn.params];
}
