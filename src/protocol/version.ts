/** This package's version, as in `package.json`. */
export const PACKAGE_VERSION = "0.1.0";

/** The storage format of a new actor, and the one that older formats are upgraded to. */
export const STORAGE_FORMAT = 1;
/**
 * The newest storage format that this release reads and writes. An actor's storage moves to it with the first commit that
 * writes a row which the previous release would misread; until then that release can still read it. A newer format is
 * `storage/newer_format`.
 */
export const NEWEST_STORAGE_FORMAT = 4;

/**
 * The version of the envelope between Worker and object, which may be one release apart. Since 2 an object reads an action's
 * call with the caller's own message (`ActionCall`).
 */
export const ENVELOPE_VERSION = 2;
