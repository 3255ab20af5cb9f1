/** Where a page of a list begins, and how long it is. */
interface Page {
  /** The id, key or row to begin with. Default: the first. */
  readonly from?: string;
  readonly limit?: number;
}

/** What an operator asks about an actor, or asks to be done to it (those with `by`, who asks), below its start gate. */
export type InspectQuestion =
  | { readonly about: "summary" }
  | { readonly about: "state" }
  | ({ readonly about: "history" } & Page)
  /** One entry of the history, with its value. */
  | { readonly about: "entry"; readonly id: string }
  /** The whole history as a file; its answer is plain JSON. */
  | { readonly about: "recorded" }
  | ({ readonly about: "queue" } & Page)
  /** One message, with its body. */
  | { readonly about: "message"; readonly id: string }
  | { readonly about: "schedules" }
  | { readonly about: "connections" }
  | ({ readonly about: "kv" } & Page)
  | { readonly about: "tables" }
  /** The tables with their columns, foreign keys and number of rows, all of which it reads. */
  | { readonly about: "schema" }
  | ({ readonly about: "rows"; readonly table: string } & Page)
  /** As an upgrade: a socket that is told what each commit changes, `{ changed: names }` in JSON. */
  | { readonly about: "watch" }
  /** The last acts of operators. */
  | { readonly about: "audit" }
  /** `dryRun`, of what is done to the workflow: only tells what would happen. */
  | (InspectAct & { readonly by: string; readonly dryRun?: boolean });

/** What an operator asks to be done. Values are bytes of the storage codec. */
type InspectAct =
  /** `ifMatch`: the hash of the state that the operator saw, or "*". */
  | { readonly about: "setState"; readonly value: Uint8Array; readonly ifMatch: string }
  | { readonly about: "send"; readonly queue: string; readonly value: Uint8Array }
  | { readonly about: "deleteMessage"; readonly id: string }
  /** Deletes all messages that nobody holds, of one queue or of all. */
  | { readonly about: "drain"; readonly queue?: string }
  | { readonly about: "pause"; readonly reason?: string }
  | { readonly about: "resume" }
  /** Older Workers ask for it as `recover`. */
  | { readonly about: "retry" | "recover" }
  /** `id`: the entry; without it from the start. */
  | { readonly about: "replayFrom"; readonly id?: string }
  | { readonly about: "skip"; readonly id: string; readonly value: Uint8Array }
  | { readonly about: "cancel"; readonly rollback?: boolean }
  /** Runs an action of an actor that starts for it; `args`: an array. */
  | { readonly about: "call"; readonly action: string; readonly args: Uint8Array }
  /** Runs SQL through `c.db`; `parameters`: an array, or an object by name. */
  | { readonly about: "sql"; readonly sql: string; readonly parameters: Uint8Array };
