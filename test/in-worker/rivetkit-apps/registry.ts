// oxlint-disable import/no-cycle -- a type only, as apps have it
import { setup } from "rivetkit";
import { agent } from "./ai-agent.js";
import { chatRoom } from "./chat-room.js";
import { checkout, inventory } from "./cross-actor-actions.js";
import { rawCursorRoom } from "./cursors-raw-websocket.js";
import { cursorRoom } from "./cursors.js";
import { counter } from "./hello-world.js";
import { kitchenSink } from "./kitchen-sink.js";
import { match, matchmaker } from "./multiplayer-game-patterns.js";
import { companyDatabase } from "./per-tenant-database.js";
import { rawCounter } from "./raw-fetch-handler.js";
import { reminders } from "./scheduling.js";

/** All of them behind one server. */
export const registry = setup({
  use: {
    agent,
    chatRoom,
    checkout,
    companyDatabase,
    counter,
    cursorRoom,
    inventory,
    kitchenSink,
    match,
    matchmaker,
    rawCounter,
    rawCursorRoom,
    reminders,
  },
});
