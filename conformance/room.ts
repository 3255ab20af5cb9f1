import { actor, event, UserError } from "perdure";

interface Params {
  readonly name?: string;
  readonly token?: number;
}

/** What a connection can be refused, told, and taken away. */
export const room = actor({
  state: { said: 0, ends: [] as string[] },
  events: {
    said: event<[who: string, text: string]>(),
    welcome: event<unknown>(),
    secret: event<string>({ canSubscribe: () => false }),
  },
  onBeforeConnect: (_c, params: Params | undefined) => {
    if (params?.name === "mallory")
      throw new UserError("Not you", { code: "unwelcome", metadata: { name: "mallory" } });
  },
  createConnState: (_c, params: Params | undefined) => ({ name: params?.name ?? "nobody" }),
  onConnect: (_c, conn) => {
    if (conn.isHibernatable) conn.send("welcome", conn.params);
  },
  onDisconnect: (c, conn, { code, reason }) => {
    if (conn.isHibernatable) c.state.ends.push(`${conn.state.name} ${code} ${reason}`);
  },
  actions: {
    say: (c, text: string) => {
      c.state.said += 1;
      c.broadcast("said", c.conn.state.name, text);
      return c.state.said;
    },
    echo: (_c, value: unknown) => value,
    params: (c) => c.conn.params,
    long: (_c, bytes: number) => "x".repeat(bytes),
    refuse: () => {
      throw new UserError("No", { code: "no", metadata: { why: ["rules"] } });
    },
    never: () => new Promise<void>(() => {}),
    who: (c) =>
      [...c.conns.values()]
        .filter((conn) => conn.isHibernatable)
        .map((conn) => conn.state.name)
        .toSorted(),
    ends: (c) => c.state.ends,
    /** Ends a connection from this side; the client connects again. */
    drop: async (c, name: string) => {
      for (const conn of c.conns.values())
        if (conn.isHibernatable && conn.state.name === name) await conn.disconnect("dropped");
    },
    end: (c) => c.destroy(),
    users: { count: (c) => [...c.conns.values()].filter((conn) => conn.isHibernatable).length },
  },
});
