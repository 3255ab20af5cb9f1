import { leafWorkloads } from "./leaf-workloads.js";
import { nestedWorkloads } from "./nested-workloads.js";
import type { Workload } from "./workload.js";

/** Every workload changes state only after a step's last await, so state must come out exact. */
export const workloads: readonly Workload[] = [...leafWorkloads, ...nestedWorkloads];
