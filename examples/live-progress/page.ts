import { createClient } from "perdure/client";
import { byId, named, onSubmit, showError } from "../dom";
import type { Progress, registry } from "./index";

const client = createClient<typeof registry>(location.origin);

onSubmit("order", async () => {
  // A job has a key of its own, which goes into the address: a reload shows the same job.
  history.replaceState(null, "", `#${crypto.randomUUID()}`);
  await client.importJob
    .getOrCreate([named("")])
    .send("orders", { batches: byId("batches", HTMLInputElement).valueAsNumber });
  follow(named(""));
});
if (named("") !== "") follow(named(""));

function follow(job: string): void {
  byId("order", HTMLFormElement).hidden = true;
  byId("job", HTMLElement).hidden = false;
  const connection = client.importJob.getOrCreate([job]).connect();

  const show = ({ status, batches, imported, rows }: Progress): void => {
    byId("bar", HTMLProgressElement).max = Math.max(batches, 1);
    byId("bar", HTMLProgressElement).value = imported;
    byId("text", HTMLElement).textContent = `${status}: ${imported} of ${batches} batches, ${rows} rows`;
  };
  connection.on("progress", show);
  // First how it stands, then what changes. The socket keeps order, so that nothing older is shown after something newer.
  connection.onOpen(async () => show(await connection.getState()));
  connection.onStatusChange((status) => (byId("status", HTMLElement).textContent = status));
  connection.onError(showError);
}
