import type { Batch, Store, StoreActivation } from "../../actor/index.js";

/** A store that tells of each commit, and of each activation before it. */
export function toldCommits(store: Store, committed: (batch: Batch) => void, activated?: () => void): Store {
  return {
    activate(): StoreActivation {
      activated?.();
      const activation = store.activate();
      const { sql } = activation;
      return {
        ...(sql && { sql }),
        get isCurrent() {
          return activation.isCurrent;
        },
        get: (key) => activation.get(key),
        list: (prefix, options) => activation.list(prefix, options),
        commit: (batch: Batch) => {
          activation.commit(batch);
          committed(batch);
        },
        getAlarm: () => activation.getAlarm(),
        sync: () => activation.sync(),
        deleteAll: () => activation.deleteAll(),
      };
    },
  };
}
