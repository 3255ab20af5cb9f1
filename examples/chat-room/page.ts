import { createClient } from "perdure/client";
import { byId, onSubmit, named, showError, showList } from "../dom";
import type { Line, registry } from "./index";

const client = createClient<typeof registry>(location.origin);
const room = named("lobby");
byId("room", HTMLElement).textContent = room;

onSubmit("enter", () => {
  byId("enter", HTMLFormElement).hidden = true;
  byId("inside", HTMLElement).hidden = false;
  enter(byId("name", HTMLInputElement).value);
});

function enter(name: string): void {
  const connection = client.chatRoom.getOrCreate([room]).connect({ name });
  const text = byId("text", HTMLInputElement);
  const lines = new Map<number, Line>();

  const showLines = (more: readonly Line[]): void => {
    for (const line of more) lines.set(line.number, line);
    const inOrder = [...lines.values()].sort((a, b) => a.number - b.number);
    showList(
      byId("lines", HTMLElement),
      inOrder.map((line) => `${line.name}: ${line.text}`),
    );
  };
  const showPresent = (present: readonly string[]): void => showList(byId("present", HTMLElement), present);

  connection.on("line", (line) => showLines([line]));
  connection.on("present", showPresent);
  // The connection comes back by itself when it is lost. What was said meanwhile is asked for; lines are told by their numbers.
  connection.onOpen(async () => {
    const { lines: said, present } = await connection.getRoom();
    showLines(said);
    showPresent(present);
  });
  connection.onStatusChange((status) => (byId("status", HTMLElement).textContent = status));
  connection.onError(showError);

  onSubmit("say", async () => {
    const line = text.value;
    text.value = "";
    await connection.say(line);
  });
}
