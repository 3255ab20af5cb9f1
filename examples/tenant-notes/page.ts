import { createClient } from "perdure/client";
import { byId, named, onSubmit, showError, showList } from "../dom";
import type { registry } from "./index";

// In an application the tenant comes from who is logged in, and the Worker checks it: see docs/guides/deploying.md.
const tenant = named("acme");
const client = createClient<typeof registry>(location.origin);
const notes = client.tenantNotes.getOrCreate([tenant]).connect();
const [text, words] = [byId("text", HTMLTextAreaElement), byId("words", HTMLInputElement)];
byId("tenant", HTMLElement).textContent = tenant;

async function refresh(): Promise<void> {
  const wanted = words.value.trim();
  const found = wanted === "" ? await notes.list() : await notes.search(wanted);
  // What was typed meanwhile is asked for on its own.
  if (wanted === words.value.trim())
    showList(
      byId("notes", HTMLElement),
      found.map((note) => note.text),
    );
}

const refreshNow = (): void => void refresh().catch(showError);
notes.on("changed", refreshNow);
notes.onOpen(refreshNow);
notes.onStatusChange((status) => (byId("status", HTMLElement).textContent = status));
notes.onError(showError);
words.addEventListener("input", refreshNow);

onSubmit("add", async () => {
  await notes.add(text.value);
  text.value = "";
});
// A message to the workflow: the page may go, the import is done.
onSubmit("import", () => notes.send("imports", { notebook: byId("notebook", HTMLInputElement).value }));
