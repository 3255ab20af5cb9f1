/** This package's version, as `package.json` has it. */
export const PACKAGE_VERSION = "0.1.0";

/** The format in which an actor's storage begins, and to which an older one is upgraded. */
export const STORAGE_FORMAT = 1;
/**
 * The newest format that this release reads and writes. An actor's storage is in it from the commit on that first writes a row
 * which the release before would misread; what needs no such row stays readable for that release. A newer one is
 * `storage/newer_format`.
 */
export const NEWEST_STORAGE_FORMAT = 2;

/** The version of the envelope between Worker and object. One release of difference is tolerated. */
export const ENVELOPE_VERSION = 1;
