// How deep and how large values may be. The room is one way: what a caller sends can be stored inside anything, and what
// is stored can be read by anybody.

/** Containers within containers in one value that a caller sends: arguments, an input, a message, params. */
export const MAX_WIRE_DEPTH = 64;

/** The same in what is stored or answered: state, entries of a history, rows, calls between actors. */
export const MAX_STORED_DEPTH = 256;

/** The same in what is decoded: more than anybody writes, and less than the stack holds. */
export const MAX_DECODED_DEPTH = 300;

/** Characters that the regular expressions in what a caller sends may have together. */
export const MAX_REG_EXP_LENGTH = 4096;

/** What a decoder takes. */
export interface ReadLimits {
  /** Containers within containers. */
  readonly depth: number;
  /**
   * Characters in the sources of all regular expressions together: to make one takes the runtime up to a quarter of a
   * millisecond a character (Unicode classes), so that a message of 1 MB would take a minute.
   */
  readonly regExpLength: number;
}

/** For what we wrote ourselves, and what a server answers. */
export const OWN_LIMITS: ReadLimits = { depth: MAX_DECODED_DEPTH, regExpLength: Infinity };

/** For a message of a caller, whose values stand in so many containers of the message. */
export function callerLimits(levelsAround: number): ReadLimits {
  return { depth: MAX_WIRE_DEPTH + levelsAround, regExpLength: MAX_REG_EXP_LENGTH };
}

/** Encoded bytes that one stored value of a user's may have. */
export const MAX_VALUE_BYTES = 2_000_000;

/** Encoded bytes of a row of ours: a value of any size, and what stands around it; below the platform's 2 MiB. */
export const MAX_ROW_BYTES = MAX_VALUE_BYTES + 90_000;

/** Bytes that the params of a connection may have: they travel in a header, and are stored beside the connection. */
export const MAX_CONNECTION_PARAMS_BYTES = 4096;

/** What is due at once, waits of a workflow or schedules, is begun so many at a time: the next pass follows at once. */
export const DUE_PER_PASS = 100;

/** Encoded bytes that cross a wire at once: what the platform carries. */
export const MAX_WIRE_BYTES = 32 * 1024 * 1024;

/** What a crash has cut off so often, an attempt of a step or a scheduled action, is given up. */
export const MAX_INTERRUPTIONS = 10;
