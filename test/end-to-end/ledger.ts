import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface LedgerLine {
  readonly text: string;
  readonly at: number;
}

/** Somebody outside who writes down what actors tell him, and remembers it when their server dies. */
export class Ledger {
  readonly lines: LedgerLine[] = [];
  readonly #server: Server;
  readonly #waiters = new Map<string, (line: LedgerLine) => void>();
  #beforeAnswer: (text: string) => Promise<void> | void = () => {};

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(): Promise<Ledger> {
    const server = createServer((request, response) => {
      let text = "";
      request.setEncoding("utf8");
      request.on("data", (chunk: string) => (text += chunk));
      request.on("end", async () => {
        const line = { text, at: Date.now() };
        ledger.lines.push(line);
        for (const [prefix, resolve] of ledger.#waiters) {
          if (!text.startsWith(prefix)) continue;
          ledger.#waiters.delete(prefix);
          resolve(line);
        }
        await ledger.#beforeAnswer(text);
        response.end();
      });
    });
    const ledger = new Ledger(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return ledger;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** How often a text was told. */
  count(text: string): number {
    return this.lines.filter((line) => line.text === text).length;
  }

  /** Resolves with the first line from now on that begins so. */
  next(prefix: string): Promise<LedgerLine> {
    return new Promise((resolve) => this.#waiters.set(prefix, resolve));
  }

  /** What happens while the one who told something waits for the answer. */
  beforeAnswer(run: (text: string) => Promise<void> | void): void {
    this.#beforeAnswer = run;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
