import type { ActorNamespace, ActorStub, ObjectId } from "../../src/router/index.js";
import { namespaceOf, workerTime } from "../../src/testing-kit/internal.js";
import type { World } from "../../src/testing/index.js";

/** The objects of a world as the Worker's namespace, which counts what it is asked. */
export class WorldObjects implements ActorNamespace {
  readonly #objects: ActorNamespace;
  calls = 0;

  constructor(world: World) {
    this.#objects = namespaceOf(world);
  }

  idFromName(text: string): ObjectId {
    return this.#objects.idFromName(text);
  }

  idFromString(id: string): ObjectId {
    return this.#objects.idFromString(id);
  }

  get(id: ObjectId): ActorStub {
    const stub = this.#objects.get(id);
    return {
      call: (sent) => {
        this.calls += 1;
        return stub.call(sent);
      },
      fetch: (request, init) => {
        this.calls += 1;
        return stub.fetch(request, init);
      },
    };
  }
}

/** What waiting for a reply needs of the world around the Worker, by the world's clock. */
export function waitPorts(world: World): ReturnType<typeof workerTime> {
  return workerTime(world.clock);
}
