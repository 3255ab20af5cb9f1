/** What clients were told, to be compared with what the actor has come to. */

export interface Told {
  /** Of the request; it shows wherever the request takes effect. */
  readonly id: string;
  /** The id of the life that acknowledged it; undefined: nobody knows what became of it. */
  life: string | undefined;
}

/** A sender that waits for a reply. */
export interface Waiting extends Told {
  /** When its wait is over, epoch ms. */
  readonly deadline: number;
  /** What it was told; undefined while it waits. */
  outcome: string | undefined;
}

export class Ledger {
  readonly sent: Told[] = [];
  readonly added: Told[] = [];
  readonly scheduled: Told[] = [];
  readonly recurring: Told[] = [];
  readonly waiting: Waiting[] = [];
  /** Lives whose end was planned, and that must not outlive it. */
  readonly doomed = new Set<string>();
  /** Lives whose end was acknowledged: nothing may answer for one of them any more. */
  readonly over = new Set<string>();

  /** Ids that a life acknowledged. */
  acknowledgedBy(life: string, list: readonly Told[]): string[] {
    return list.filter((each) => each.life === life).map((each) => each.id);
  }

  /** Ids that may show in a life: what it acknowledged itself, and what nobody knows of. */
  possibleIn(life: string, list: readonly Told[]): Set<string> {
    return new Set(list.filter((each) => each.life === life || each.life === undefined).map((each) => each.id));
  }
}
