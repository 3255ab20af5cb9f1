/** Where a page of a list begins, and how long it is. */
interface Page {
  /** The id, key or row to begin with. Default: the first. */
  readonly from?: string;
  readonly limit?: number;
}

/** What an operator asks about an actor, below its start gate: nothing of the actor runs for it. */
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
  | ({ readonly about: "rows"; readonly table: string } & Page);
