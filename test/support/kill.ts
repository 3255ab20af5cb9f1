/**
 * Why a test throws an object away: `ctx.abort(KILLED)`. Of an abort whose reason begins with these two words the workerd
 * pool prints nothing, since its own are no news either; each other one is printed with a stack of addresses.
 */
export const KILLED = "Instance dispose: the test throws this object away";
