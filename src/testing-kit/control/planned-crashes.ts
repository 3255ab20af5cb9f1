import type { CommitFault, MemoryStore } from "../../testing/index.js";

/** A crash that is to come at a commit. */
export interface PlannedCrash {
  /** Whether it has come. */
  readonly fired: boolean;
  /** It does not come any more; does nothing if it has. */
  cancel(): void;
}

interface Plan {
  readonly commit: number;
  readonly fault: "crash-before" | "crash-after";
  fired: boolean;
}

/** The crashes planned for the commits of objects. A fault of the store's own comes where none is planned. */
export class PlannedCrashes {
  readonly #plans = new WeakMap<MemoryStore, Set<Plan>>();

  /** `commit` counts from the next one, which is 1. */
  plan(store: MemoryStore, commit: number, fault: Plan["fault"]): PlannedCrash {
    const plans = this.#of(store);
    const plan: Plan = { commit: store.commits + commit, fault, fired: false };
    plans.add(plan);
    return {
      get fired() {
        return plan.fired;
      },
      cancel: () => void plans.delete(plan),
    };
  }

  #of(store: MemoryStore): Set<Plan> {
    const known = this.#plans.get(store);
    if (known) return known;
    const plans = new Set<Plan>();
    const otherwise: CommitFault | undefined = store.fault;
    store.fault = (commit) => {
      const plan = [...plans].find((each) => each.commit === commit);
      if (!plan) return otherwise?.(commit);
      plan.fired = true;
      plans.delete(plan);
      return plan.fault;
    };
    this.#plans.set(store, plans);
    return plans;
  }
}
