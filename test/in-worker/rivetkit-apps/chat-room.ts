import { actor, event, type ActorContextOf } from "rivetkit";
import { toUint8Array } from "rivetkit/utils";

export interface Line {
  sender: string;
  text: string;
  at: number;
}

export const chatRoom = actor({
  state: { lines: [] as Line[] },
  events: { line: event<Line>(), present: event<string[]>() },
  createConnState: (_c, params: { name: string } | undefined) => ({ name: params?.name ?? "guest" }),
  onConnect: (c) => {
    announce(c);
  },
  onDisconnect: (c) => {
    announce(c);
  },
  actions: {
    say: (c, text: string) => {
      const line = { sender: c.conn.state.name, text, at: Date.now() };
      c.state.lines.push(line);
      c.broadcast("line", line);
      return line;
    },
    history: (c) => c.state.lines,
    bytes: (c) =>
      c.state.lines.reduce((sum, { text }) => sum + toUint8Array(new TextEncoder().encode(text)).byteLength, 0),
  },
});

function announce(c: ActorContextOf<typeof chatRoom>): void {
  c.broadcast("present", [...c.conns.values()].map((conn) => conn.state.name).toSorted());
}
