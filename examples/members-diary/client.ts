import { createClient } from "perdure/client";
import { check, type Tour, type TourResult } from "../tour";
import { signIn, type registry } from "./index";

export async function run({ endpoint, key, say }: Tour): Promise<TourResult> {
  const open = (token?: string) =>
    createClient<typeof registry>({ endpoint, ...(token !== undefined && { token }) }).diary;
  const [ann, bob] = [`ann-${key}`, `bob-${key}`];
  const [ofAnn, ofBob, ofNobody] = [open(await signIn(ann)), open(await signIn(bob)), open()];

  const untitled = ofAnn.getOrCreate([ann], { createWithInput: { title: "" } });
  check((await refusalOf(untitled.write("…"))) === "user/no_title", "a diary without a title is refused");
  check((await refusalOf(ofAnn.get([ann]).resolve())) === "actor/not_found", "and was not made");

  const diary = ofAnn.getOrCreate([ann], { createWithInput: { title: "Summer" } });
  await diary.write("Swam in the lake");
  const id = await diary.resolve();
  say("ann writes her diary");

  for (const theirs of [
    ofBob.get([ann]),
    ofBob.getOrCreate([ann], { createWithInput: { title: "Mine" } }),
    ofBob.getForId(id),
  ]) {
    check((await refusalOf(theirs.read())) === "auth/forbidden", "bob does not read it, by key or by id");
  }
  check((await refusalOf(ofBob.get([ann]).connect().ready)) === "auth/forbidden", "nor over a connection");
  check((await refusalOf(ofNobody.get([ann]).read())) === "auth/unauthorized", "and nobody who is not signed in");
  check(
    (await refusalOf(
      open(`${ann}.${"0".repeat(64)}`)
        .get([ann])
        .read(),
    )) === "auth/unauthorized",
    "nor with a token that is made up",
  );
  say("bob is refused, by key, by id and over a connection");

  const { title, entries } = await diary.read();
  check(title === "Summer" && entries.length === 1, "the diary is as ann left it");
  return { result: `"${title}" was made once, and read by ann alone` };
}

async function refusalOf(asked: Promise<unknown>): Promise<string> {
  try {
    await asked;
    return "nothing";
  } catch (error) {
    const { group, code } = error as { group?: string; code?: string };
    return `${group}/${code}`;
  }
}
