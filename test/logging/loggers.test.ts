import { afterEach, expect, test, vi } from "vitest";
import {
  configureBaseLogger,
  configureDefaultLogger,
  configuredLogger,
  getBaseLogger,
  getLogger,
  makeDefaultLogger,
} from "../../src/logging/index.js";

const levels = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

afterEach(() => {
  vi.restoreAllMocks();
  configureDefaultLogger();
});

test("a logger writes one line of JSON an entry, from its level on, and its children say more", () => {
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  const logger = makeDefaultLogger("info");
  logger.debug("not told");
  logger.child({ order: 7 }).child({ step: "pay" }).info({ msg: "paid", amount: 5n });
  logger.error("lost");
  expect(log.mock.calls.map(([line]) => JSON.parse(line as string) as unknown)).toEqual([
    { level: "info", order: 7, step: "pay", msg: "paid", amount: "5" },
  ]);
  expect(error.mock.calls.map(([line]) => JSON.parse(line as string) as unknown)).toEqual([
    { level: "error", msg: "lost" },
  ]);
});

test("a logger of one's own is given the entries of all", () => {
  const told: unknown[] = [];
  const own = Object.fromEntries(
    levels.map((level) => [level, (entry: unknown) => told.push([level, entry])]),
  ) as never;
  configureBaseLogger(own);
  expect(configuredLogger()).toBe(own);
  getLogger("mailer").warn("slow");
  getBaseLogger().trace({ msg: "x" });
  expect(told).toEqual([
    ["warn", { target: "mailer", msg: "slow" }],
    ["trace", { msg: "x" }],
  ]);
});
