/** This package's version, as `package.json` has it. */
export const PACKAGE_VERSION = "0.1.0";

/** The version of what an actor's storage holds. A newer one under older code is `storage/newer_format`. */
export const STORAGE_FORMAT = 1;

/** The version of the envelope between Worker and object. One release of difference is tolerated. */
export const ENVELOPE_VERSION = 1;
