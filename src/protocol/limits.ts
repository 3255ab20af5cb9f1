// How deep and how large values may be. The limits grow from wire to storage to decoder: what a caller sends can be stored
// inside anything, and what is stored can always be read.

/** Nesting depth of a value that a caller sends: arguments, an input, a message, params. */
export const MAX_WIRE_DEPTH = 64;

/** Nesting depth of what is stored or answered: state, history entries, rows, calls between actors. */
export const MAX_STORED_DEPTH = 256;

/** Nesting depth of what is decoded: more than any encoder writes, and less than the stack holds. */
export const MAX_DECODED_DEPTH = 300;

/** Characters of all regular expressions together in what a caller sends. */
export const MAX_REG_EXP_LENGTH = 4096;

/** What a decoder accepts. */
export interface ReadLimits {
  /** Nesting depth. */
  readonly depth: number;
  /**
   * Characters in the sources of all regular expressions together. Compiling one takes up to a quarter of a millisecond per
   * character (Unicode classes): without a limit, a message of 1 MB could take a minute.
   */
  readonly regExpLength: number;
}

/** For data we wrote ourselves, and for answers of a server. */
export const OWN_LIMITS: ReadLimits = { depth: MAX_DECODED_DEPTH, regExpLength: Infinity };

/** For a caller's message whose values lie `levelsAround` containers deep in it. */
export function callerLimits(levelsAround: number): ReadLimits {
  return { depth: MAX_WIRE_DEPTH + levelsAround, regExpLength: MAX_REG_EXP_LENGTH };
}

/** Encoded bytes of one stored user value. */
export const MAX_VALUE_BYTES = 2_000_000;

/** Encoded bytes of a row: a value of the largest size plus the row's own fields; below the platform's 2 MiB. */
export const MAX_ROW_BYTES = MAX_VALUE_BYTES + 90_000;

/** Bytes of a connection's params: they travel in a header and are stored with the connection. */
export const MAX_CONNECTION_PARAMS_BYTES = 4096;

/** Bytes of a message on the wire whose arguments fit into a stored value, whatever they are; those of a larger one are checked. */
export const MAX_UNCHECKED_BYTES = 65_536;

/** Due workflow waits or schedules started per pass; the next pass follows at once. */
export const DUE_PER_PASS = 100;

/** Encoded bytes of one message on the wire: the platform's limit. */
export const MAX_WIRE_BYTES = 32 * 1024 * 1024;

/** Crashes in a row after which an attempt of a step or a scheduled action is given up. */
export const MAX_INTERRUPTIONS = 10;
