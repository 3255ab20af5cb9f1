import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { DevServer, freePort } from "../../scripts/demo-server.mjs";

/** `fixtures/worker.ts`, or another Worker, under `wrangler dev`, on a free port, with storage of its own. */
export class FixtureServer {
  readonly dev: DevServer;
  readonly #persistTo: string;

  private constructor(config: string, port: number, persistTo: string) {
    this.#persistTo = persistTo;
    this.dev = new DevServer({ config, port, persistTo });
  }

  static async start(config = join(import.meta.dirname, "fixtures", "wrangler.toml")): Promise<FixtureServer> {
    const server = new FixtureServer(config, await freePort(), mkdtempSync(join(tmpdir(), "perdure-end-to-end-")));
    await server.dev.start();
    return server;
  }

  get url(): string {
    return this.dev.url;
  }

  async stop(): Promise<void> {
    await this.dev.stop();
    rmSync(this.#persistTo, { recursive: true, force: true });
  }
}

/** Reads until the value is as wanted: nothing tells a client of a change. Rejects after the limit, with the last value. */
export async function eventually<T>(
  read: () => Promise<T>,
  isDone: (value: T) => boolean,
  limitMs = 15_000,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const value = await read();
    if (isDone(value)) return value;
    if (Date.now() > deadline) throw new Error(`Not within ${limitMs} ms; the last value: ${JSON.stringify(value)}`);
    await delay(50);
  }
}
