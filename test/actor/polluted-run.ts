// Runs in a process of its own, since no test runner survives what is done to its Object.prototype: tells the first difference
// that the poison makes, or nothing.
import { OF_THE_PLATFORM, propertyNames, whilePolluted } from "../support/polluted-prototype.js";
import { runCore } from "./core-scenario.js";

const poison: unknown = process.argv[2] === "function" ? () => 7 : JSON.parse(process.argv[2] ?? "true");
const names = propertyNames().filter((name) => !OF_THE_PLATFORM.has(name));

const clean = JSON.stringify(await runCore(), null, 1).split("\n");
const polluted = await whilePolluted(names, poison, runCore).then(
  (outcome) => JSON.stringify(outcome, null, 1).split("\n"),
  (error: unknown) => [error instanceof Error ? String(error.stack) : String(error)],
);
const at = clean.findIndex((line, index) => line !== polluted[index]);
process.stdout.write(
  at === -1 && clean.length === polluted.length
    ? `the same, ${clean.length} lines, ${names.length} names`
    : `${polluted[at]}\ninstead of\n${clean[at]}`,
);
process.exit(0);
