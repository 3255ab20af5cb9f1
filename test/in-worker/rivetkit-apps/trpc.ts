import { createClient } from "rivetkit/client";
import type { registry } from "./registry.js";

// Procedures of a server that has no request at hand: the client finds the actors of its own Worker.
const client = createClient<typeof registry>();

export const procedures = {
  increment: ({ name, by }: { name: string; by: number }) => client.counter.getOrCreate(name).increment(by),
  get: ({ name }: { name: string }) => client.counter.getOrCreate(name).getCount(),
  on: ({ name }: { name: string }, listener: (count: number) => void) =>
    client.counter.getOrCreate(name).connect().on("newCount", listener),
};
