import type { RouterOptions } from "../../../src/router/index.js";

type SocketPlatform = NonNullable<RouterOptions["sockets"]>;

/** The Worker's end of a socket whose other end is the test. */
export class FakeSocket extends EventTarget {
  readonly frames: Uint8Array[] = [];
  readyState = 1;
  ended: readonly [code: number, reason: string] | undefined;
  #changed = Promise.withResolvers<void>();

  accept(): void {}

  send(frame: Uint8Array): void {
    this.frames.push(frame);
    this.#tell();
  }

  close(code: number, reason: string): void {
    if (this.readyState !== 1) return;
    this.readyState = 3;
    this.ended = [code, reason];
    this.dispatchEvent(new Event("close"));
    this.#tell();
  }

  /** Another frame than binary if it is a text. */
  receive(frame: Uint8Array | string): void {
    const data = typeof frame === "string" ? frame : new Uint8Array(frame).buffer;
    this.dispatchEvent(Object.assign(new Event("message"), { data }));
  }

  /** Resolves when there are so many frames, or it has ended. */
  async untilFrames(count: number): Promise<void> {
    while (this.frames.length < count && this.readyState === 1) await this.#changed.promise;
  }

  #tell(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

/** Sockets in Node, which has no answer that gives one away. `opened` are the Worker's ends. */
export function fakeSockets(): SocketPlatform & { readonly opened: FakeSocket[] } {
  const opened: FakeSocket[] = [];
  return {
    opened,
    pair: () => {
      const server = new FakeSocket();
      opened.push(server);
      return { 0: {}, 1: server } as never;
    },
    upgraded: (_socket, headers) => new Response(null, { status: 204, headers }),
  };
}
