import { actor, event, setup, UserError } from "perdure";

export interface Line {
  number: number;
  name: string;
  text: string;
}

const MAX_LINES = 200;

/** A room: whoever is in it hears what is said, and sees who else is there. */
export const chatRoom = actor({
  state: {
    said: 0,
    lines: [] as Line[],
  },
  events: {
    line: event<Line>(),
    present: event<[names: string[]]>(),
  },

  // Admission: a throw keeps the caller out, and it gets the error. Until then it hears nothing and nobody sees it.
  onBeforeConnect: (_c, params: { name: string }) => {
    const name = params?.name;
    if (typeof name !== "string" || name.trim() === "" || name.length > 40)
      throw new UserError("Say who you are, in 1 to 40 characters", { code: "no_name" });
  },

  // Who is there is not in the state: it goes with the connections. They stay open while the object hibernates, and their
  // names come back with it, without another onConnect. An idle room full of people costs nothing.
  createConnState: (_c, params: { name: string }) => ({ name: params.name.trim() }),
  onConnect: (c) => c.broadcast("present", namesOf(c.conns)),

  // Told of every end, also of connections that were lost together with the server: then when the room next starts.
  onDisconnect: (c) => c.broadcast("present", namesOf(c.conns)),

  actions: {
    /** Nobody hears a line before it is stored. */
    say: (c, text: string) => {
      if (typeof text !== "string" || text.length > 2_000)
        throw new UserError("A line has at most 2,000 characters", { code: "too_long" });
      const line = { number: (c.state.said += 1), name: c.conn.state.name, text };
      c.state.lines = [...c.state.lines, line].slice(-MAX_LINES);
      c.broadcast("line", line);
    },
    /** For whoever comes in, or comes back: events that were sent meanwhile do not come later. */
    getRoom: (c) => ({ lines: c.state.lines, present: namesOf(c.conns) }),
  },
});

/** Those with a socket: a call over HTTP is a connection, too, as long as it runs. Somebody with two windows is one. */
function namesOf(conns: Iterable<[string, { isHibernatable: boolean; state: { name: string } }]>): string[] {
  const names = [...conns].filter(([, conn]) => conn.isHibernatable).map(([, conn]) => conn.state.name);
  return [...new Set(names)].sort();
}

export const registry = setup({ use: { chatRoom } });
