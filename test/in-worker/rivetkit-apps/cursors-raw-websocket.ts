import { actor, type RivetMessageEvent, type UniversalWebSocket } from "rivetkit";

interface Vars {
  sockets: Map<string, { socket: UniversalWebSocket; at: { x: number; y: number } | null }>;
}

export const rawCursorRoom = actor({
  state: { moves: 0 },
  createVars: (): Vars => ({ sockets: new Map() }),
  onWebSocket: async (c, socket: UniversalWebSocket) => {
    const session = new URL(c.request?.url ?? "http://x").searchParams.get("sessionId");
    if (session === null) {
      socket.close(1008, "Missing sessionId");
      return;
    }
    c.vars.sockets.set(session, { socket, at: null });
    socket.send(JSON.stringify({ type: "init", sessions: [...c.vars.sockets.keys()] }));
    socket.addEventListener("message", (event: RivetMessageEvent) => {
      const { x, y } = JSON.parse(event.data);
      c.vars.sockets.set(session, { socket, at: { x, y } });
      c.state.moves += 1;
      for (const { socket: each } of c.vars.sockets.values())
        if (each.readyState === each.OPEN) each.send(JSON.stringify({ type: "moved", session, x, y }));
    });
    socket.addEventListener("close", () => void c.vars.sockets.delete(session));
  },
  actions: { moves: (c) => c.state.moves },
});
