// Exports types that come from the library, without importing it: declarations must find a public name for them.
import { ledger, plain, registry } from "./actors.js";

export const again = { ledger, plain };
export const config = registry.config;
export const definition = (): typeof ledger => ledger;
export type Registry = typeof registry;
