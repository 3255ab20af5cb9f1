import { checkTime } from "./duration.js";
import { isEncoding, readOptions, type Encoding } from "../../protocol/index.js";

/** Options of `testWorld()`; none is needed. */
export interface TestWorldOptions {
  /** The Worker's bindings and variables. Default: none. */
  readonly env?: object;
  /** The encoding of `world.client`. Default: "cbor", as the client's. */
  readonly encoding?: Encoding;
  /** When the world's time begins: a Date, an ISO text, or epoch ms. Default: the time of the machine. */
  readonly startAt?: Date | string | number;
  /**
   * While a call of the test waits and nothing else can move, time skips to what comes next. Default: true. With false it
   * moves by `advance` and `until` alone.
   */
  readonly skipTime?: boolean;
  /**
   * Whether an actor leaves memory whenever its workflow waits, so that what only works in memory fails, as with the option
   * of `createHandler`. Default: false.
   */
  readonly evictAtPark?: boolean;
  /** Receives each line of the actors' log. */
  readonly onLog?: (level: string, entry: unknown) => void;
}

export interface ResolvedOptions {
  readonly env: object;
  readonly encoding: Encoding;
  /** Epoch ms. */
  readonly startAt: number;
  readonly skipTime: boolean;
  readonly evictAtPark: boolean;
  readonly onLog: ((level: string, entry: unknown) => void) | undefined;
}

const NAMES = ["env", "encoding", "startAt", "skipTime", "evictAtPark", "onLog"] as const;

/** @throws TypeError when an option is unknown or not valid */
export function readWorldOptions(given: TestWorldOptions | undefined): ResolvedOptions {
  const fail = (problem: string): TypeError => new TypeError(`testWorld(): ${problem}`);
  const {
    env = {},
    encoding = "cbor",
    startAt = Date.now(),
    skipTime = true,
    evictAtPark = false,
    onLog,
  } = readOptions<TestWorldOptions>("testWorld", given, NAMES, fail);
  if (typeof env !== "object" || env === null) throw fail("env must be an object");
  if (!isEncoding(encoding)) throw fail("encoding must be json, cbor or bare");
  if (typeof skipTime !== "boolean") throw fail("skipTime must be true or false");
  if (typeof evictAtPark !== "boolean") throw fail("evictAtPark must be true or false");
  if (onLog !== undefined && typeof onLog !== "function") throw fail("onLog must be a function");
  const at = startAt === null ? Number.NaN : new Date(startAt).getTime();
  if (Number.isNaN(at)) throw fail("startAt must be a time: a Date, an ISO text, or epoch milliseconds");
  checkTime("testWorld(): startAt", at);
  return { env, encoding, startAt: at, skipTime, evictAtPark, onLog };
}
