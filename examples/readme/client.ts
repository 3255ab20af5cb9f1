import { createClient } from "perdure/client";
import type { registry } from "./trial";

const client = createClient<typeof registry>("http://localhost:8787");
const account = client.trial.getOrCreate(["ada@example.com"]);

await account.send("payments", { amount: 20 });
console.log(await account.getState());
