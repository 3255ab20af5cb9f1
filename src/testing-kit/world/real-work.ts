import { createHook, type AsyncHook } from "node:async_hooks";
import { CURRENT, type CountedCode } from "./current-code.js";

/** What begins once and ends by itself. A socket that is kept open is none, nor is an interval. */
const TYPES = new Set([
  "Timeout",
  "Immediate",
  "FSREQCALLBACK",
  "FSREQPROMISE",
  "GETADDRINFOREQWRAP",
  "GETNAMEINFOREQWRAP",
  "PIPECONNECTWRAP",
  "QUERYWRAP",
  "TCPCONNECTWRAP",
]);
/** Jobs of cryptography: `HASHREQUEST`, `SIGNREQUEST`. A parser of HTTP, which may be kept, is called like one. */
const JOB = /^(?!HTTP).*REQUEST$/;

let ignored = 0;
const open = new Map<number, CountedCode>();
let users = 0;
let hook: AsyncHook | undefined;

/** Counts timers, reads of files and cryptography of the code that begins them, until the last that asked for it has released it. */
export function followRealWork(): () => void {
  users += 1;
  hook ??= createHook(HOOKS);
  if (users === 1) hook.enable();
  return () => {
    users -= 1;
    if (users === 0) hook?.disable();
  };
}

/** Begins what is the world's own, and no work of the code that runs now. */
export function unfollowed<T>(begin: () => T): T {
  ignored += 1;
  try {
    return begin();
  } finally {
    ignored -= 1;
  }
}

const ended = (id: number): void => {
  const code = open.get(id);
  if (code === undefined) return;
  open.delete(id);
  code.countRealWork(-1);
};

const HOOKS = {
  // Promises are many, and are no work.
  trackPromises: false,
  init(id: number, type: string, _trigger: number, resource: { readonly _repeat?: unknown }): void {
    if (ignored > 0 || !(TYPES.has(type) || JOB.test(type)) || typeof resource._repeat === "number") return;
    const code = CURRENT.getStore()?.code;
    if (code === undefined) return;
    open.set(id, code);
    code.countRealWork(1);
  },
  after: ended,
  destroy: ended,
};
