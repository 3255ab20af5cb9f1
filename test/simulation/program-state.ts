/** What the program's actor keeps, and what it tells the test while it runs. */

/** How often a recurring job takes effect before it is over. */
export const OCCURRENCES = 3;

/** What the program's actor keeps; all of it is changed only after a step's last await. */
export interface ProgramState {
  /** How often each step has finished, by its path. */
  readonly finished: Record<string, number>;
  /** How often each step was undone. */
  readonly undone: Record<string, number>;
  readonly undoneOrder: string[];
  /** Message bodies taken outside of races. */
  readonly received: string[];
  /** Ids of `add` calls and of scheduled ticks, each with how often it took effect. */
  readonly added: Record<string, number>;
  readonly ticked: Record<string, number>;
  /** Occurrences of recurring jobs, `job@time`, each with how often it took effect. */
  readonly recurred: Record<string, number>;
  /** Bodies of messages that an action completed. */
  readonly completed: string[];
}

/** What the test watches while the program runs. */
export interface Watch {
  /** The next step that ends well asks for the actor's end. */
  destroyInStep: boolean;
  /** Work that a crash would interrupt begins or ends in this life of the actor, in the current activation. */
  attempt(path: string, begins: boolean, life: string): void;
  /** The program's function is called. */
  began(): void;
  /** It waits for a message of these queues, or of any; or it waits no more. */
  waits(at: string, queues: readonly string[] | undefined): void;
  /** A client was told that this life has its message. */
  acknowledged(life: string, body: string): void;
  /** A client was told that its message was completed in this life. */
  completed(life: string, body: string): void;
  /** Something that must not happen did. */
  violation(what: string): void;
}
