type Ws = typeof import("ws");

/**
 * Loads the package that speaks WebSocket for a server in Node, which Node itself does not. Only this needs it, so it is not
 * installed with Perdure.
 *
 * @throws Error when it is missing
 */
export async function loadWs(load: () => Promise<Ws> = () => import("ws")): Promise<Ws> {
  try {
    return await load();
  } catch (cause) {
    throw new Error("setupTest() serves WebSockets with the package ws: npm install --save-dev ws", { cause });
  }
}
