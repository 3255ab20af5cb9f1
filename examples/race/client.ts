import { createClient } from "perdure/client";
import { check, type Tour, type TourResult } from "../tour";
import type { registry } from "./index";

export async function run({ endpoint, key, say, until, crash }: Tour): Promise<TourResult> {
  const auction = createClient<typeof registry>(endpoint).auctionActor.getOrCreate([key]);

  const { wakeAt = 0 } = await until(
    () => auction.getStatus(),
    (status) => status.wakeAt !== undefined,
  );
  say(`a bid races against a timer that ends in ${Math.round((wakeAt - Date.now()) / 3_600_000)} h`);

  await crash();

  const status = await until(
    () => auction.getStatus(),
    (each) => each.wakeAt !== undefined,
  );
  await auction.send("bids", { amount: 100 });
  const { result } = await until(
    () => auction.getState(),
    (state) => state.result !== null,
  );
  say(`a bid of 100 came: the bid wins, the timer is gone; the item is ${result}`);

  check(result === "sold" && status.wakeAt === wakeAt, "the bid wins, and the crash did not move the timer");
  return { result: `winner: bid; ${result}`, survived: "the race, its timer to the millisecond" };
}
