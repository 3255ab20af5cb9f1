import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** A way to a server that can go silent: what is open stays open, and nothing passes any more, either way. */
export class SilentNetwork {
  readonly #server: Server;
  #open: Socket[] = [];

  private constructor(port: number) {
    this.#server = createServer((near) => {
      const far = connect(port, "localhost");
      this.#open.push(near, far);
      near.pipe(far).on("error", () => near.destroy());
      far.pipe(near).on("error", () => far.destroy());
    });
  }

  static async before(url: string): Promise<SilentNetwork> {
    const network = new SilentNetwork(Number(new URL(url).port));
    network.#server.listen(0, "localhost");
    await once(network.#server, "listening");
    return network;
  }

  get url(): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Nothing more passes through what is open now; what is opened later works. */
  goSilent(): void {
    for (const socket of this.#open) socket.unpipe().pause();
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}
