import { actor, event, type Conn } from "rivetkit";

interface Cursor {
  userId: string;
  x: number;
  y: number;
}

/** A helper that knows no more of connections than that they are in a map. */
function cursorsIn(conns: Map<string, Conn<unknown, unknown, { cursor: Cursor | null }>>): Record<string, Cursor> {
  const found: Record<string, Cursor> = {};
  for (const [id, conn] of conns.entries()) if (conn.state.cursor) found[id] = conn.state.cursor;
  return found;
}

export const cursorRoom = actor({
  state: { labels: [] as { id: string; text: string }[] },
  connState: { cursor: null as Cursor | null },
  events: { cursorMoved: event<Cursor>() },
  actions: {
    move: (c, userId: string, x: number, y: number) => {
      c.conn.state.cursor = { userId, x, y };
      c.broadcast("cursorMoved", c.conn.state.cursor);
    },
    label: (c, id: string, text: string) => {
      c.state.labels = [...c.state.labels.filter((label) => label.id !== id), { id, text }];
    },
    room: (c) => ({ cursors: cursorsIn(c.conns), labels: c.state.labels }),
  },
});
