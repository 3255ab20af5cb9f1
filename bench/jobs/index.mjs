// All jobs, in the order of the table.
import { bundles } from "./bundles.mjs";
import { coldStart } from "./cold-start.mjs";
import { concurrency } from "./concurrency.mjs";
import { create } from "./create.mjs";
import { loops } from "./loops.mjs";
import { memory } from "./memory.mjs";
import { messageInside } from "./message-inside.mjs";
import { messageOutside } from "./message-outside.mjs";
import { openSockets } from "./open-sockets.mjs";
import { read } from "./read.mjs";
import { readBesideRun } from "./read-beside-run.mjs";
import { recovery } from "./recovery.mjs";
import { requestReply } from "./request-reply.mjs";
import { rows } from "./rows.mjs";
import { sleepers } from "./sleepers.mjs";
import { sockets } from "./sockets.mjs";
import { start } from "./start.mjs";
import { stateSteps } from "./state-steps.mjs";
import { steps } from "./steps.mjs";
import { wakes } from "./wakes.mjs";
import { write } from "./write.mjs";

/** @type {readonly import("../job.mjs").Job[]} */
export const JOBS = [
  write,
  read,
  concurrency,
  sockets,
  openSockets,
  create,
  messageOutside,
  messageInside,
  requestReply,
  steps,
  stateSteps,
  loops,
  wakes,
  sleepers,
  recovery,
  start,
  readBesideRun,
  coldStart,
  memory,
  rows,
  bundles,
];
