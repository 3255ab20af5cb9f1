// Every entry point resolves under the names that users import, and the old package's names mean the same modules.
import type * as cloudflare from "perdure/cloudflare";
import type * as client from "perdure/client";
import type * as db from "perdure/db";
import type * as drizzle from "perdure/db/drizzle";
import type * as errors from "perdure/errors";
import type * as utils from "perdure/utils";
import type * as workflow from "perdure/workflow";
import type * as index from "perdure";
import type * as rivetkitDb from "rivetkit/db";
import type * as rivetkitDrizzle from "rivetkit/db/drizzle";
import type * as rivetkitClient from "rivetkit/client";
import type * as rivetkitWorkflow from "rivetkit/workflow";
import type * as rivetkit from "rivetkit";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

export const sameIndex: Same<typeof index, typeof rivetkit> = true;
export const sameWorkflow: Same<typeof workflow, typeof rivetkitWorkflow> = true;
export const sameClient: Same<typeof client, typeof rivetkitClient> = true;
export const sameDrizzle: Same<typeof drizzle, typeof rivetkitDrizzle> = true;
export const sameDb: Same<typeof db, typeof rivetkitDb> = true;

export type Entries = [typeof cloudflare, typeof errors, typeof utils];
