import { createClient } from "perdure/client";
import { check, type Tour, type TourResult } from "../tour";
import type { registry } from "./index";

const NOTEBOOKS = 6;

export async function run({ endpoint, key, say, until, crash }: Tour): Promise<TourResult> {
  const client = createClient<typeof registry>(endpoint);
  const acme = client.tenantNotes.getOrCreate([`acme-${key}`]);
  const globex = client.tenantNotes.getOrCreate([`globex-${key}`]);

  await acme.add("Call the bank about the loan");
  await globex.add("The bank holiday is on Monday");
  const found = await acme.search("bank");
  check(found.length === 1 && found[0]?.text.includes("loan") === true, "a tenant finds its own notes only");
  say(`acme finds "${found[0]?.text}", and nothing of globex`);

  for (let i = 1; i <= NOTEBOOKS; i += 1) await acme.send("imports", { notebook: String(i) });
  say(`${NOTEBOOKS} notebooks of two notes each are being imported`);
  await crash();
  const { imported } = await until(
    () => acme.getState(),
    (state) => state.imported === 2 * NOTEBOOKS,
  );
  const notes = await acme.list(100);
  check(notes.length === imported + 1, "each note is stored once");
  const refused = await acme.removeMatching("from notebook", 3).then(
    () => false,
    () => true,
  );
  check(refused && (await acme.list(100)).length === notes.length, "what throws in a transaction is undone");
  check((await acme.removeMatching("from notebook 1", 3)) === 2, "two match");
  await Promise.all([acme.destroy(), globex.destroy()]);
  return {
    result: `${notes.length} notes, found by their words`,
    survived: `${imported} imported notes, each stored once`,
  };
}
