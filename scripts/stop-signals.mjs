// Being stopped: by Ctrl-C and its like, or because npm was killed, which does not tell what it runs.
import process from "node:process";

const SIGNALS = /** @type {const} */ ({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 });
const POLL_MS = 500;
/** As this begins: later it may be gone. */
const parent = process.ppid;

/**
 * Calls `stop` once, which has to end the process: with what happened, and the exit code for it.
 *
 * @param {(what: string, code: number) => void} stop
 */
export function onStop(stop) {
  let isStopping = false;
  const stopOnce = (/** @type {string} */ what, /** @type {number} */ code) => {
    if (isStopping) return;
    isStopping = true;
    stop(what, code);
  };
  for (const [signal, code] of Object.entries(SIGNALS))
    process.on(signal, () => stopOnce(`Stopped by ${signal}`, code));
  // A shell stands between npm and this: it dies of npm's SIGTERM, and passes nothing on.
  if (process.env["npm_lifecycle_event"] === undefined) return;
  setInterval(() => {
    if (process.ppid !== parent) stopOnce("Stopped with npm", SIGNALS.SIGTERM);
  }, POLL_MS).unref();
}
