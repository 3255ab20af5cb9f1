import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { createTestHarness, type TestHarness } from "wrangler";
import { launchChromium } from "./chromium.js";

const root = join(import.meta.dirname, "..", "..");
/** The machine may be busy. Nothing waits for so long that does not fail. */
const LIMIT_MS = 60_000;

/** A Worker as `wrangler dev` serves it, pages included, with storage of its own; and a browser that looks at it. */
export class BrowserWorld {
  readonly url: string;
  readonly #server: TestHarness;
  readonly #browser: Browser;
  /** Uncaught errors of pages, and what they logged as errors. */
  readonly #troubles: string[] = [];

  private constructor(url: string, server: TestHarness, browser: Browser) {
    this.url = url;
    this.#server = server;
    this.#browser = browser;
  }

  static async start(config: string): Promise<BrowserWorld> {
    process.env["CLOUDFLARE_CF_FETCH_ENABLED"] = "false";
    const server = createTestHarness({ root, workers: [{ configPath: config }] });
    const [{ url }, browser] = await Promise.all([server.listen(), launchChromium()]);
    return new BrowserWorld(url.origin, server, browser);
  }

  /** A window of somebody else: it shares no cookies and no storage with the others. */
  async open(path: string): Promise<Page> {
    const page = await (await this.#browser.newContext()).newPage();
    page.setDefaultTimeout(LIMIT_MS);
    page.on("pageerror", (error) => this.#troubles.push(`${path}: ${error.message}`));
    page.on("console", (message) => message.type() === "error" && this.#troubles.push(`${path}: ${message.text()}`));
    await page.goto(this.url + path);
    return page;
  }

  /**
   * Takes the object of an actor out of memory, as the platform does after ten idle seconds: sockets stay open. False:
   * it is not in memory.
   */
  async evict(name: string, ...key: string[]): Promise<boolean> {
    try {
      await this.#server
        .getWorker()
        .evictDurableObject("ActorObject", { name: JSON.stringify([name, ...key]), webSockets: "hibernate" });
      return true;
    } catch (error) {
      if (String(error).includes("not currently running")) return false;
      throw error;
    }
  }

  /** Rejects if a page had an error that it did not handle. `expected`: what the browser logs of refusals that a test asks for. */
  async stop(expected?: RegExp): Promise<void> {
    await this.#browser.close();
    await this.#server.close();
    const troubles = this.#troubles.filter((trouble) => !expected?.test(trouble));
    if (troubles.length > 0) throw new Error(`Errors in pages:\n${troubles.join("\n")}`);
  }
}

/** Resolves when an element of the page shows this text, all of it or what the pattern says. Rejects with what it showed last. */
export async function shows(page: Page, selector: string, wanted: string | RegExp): Promise<void> {
  const [pattern, flags, text] = wanted instanceof RegExp ? [wanted.source, wanted.flags, ""] : [undefined, "", wanted];
  try {
    await page.waitForFunction(
      (expected) => {
        const shown = (document.querySelector(expected.selector)?.textContent ?? "").trim();
        return expected.pattern === undefined
          ? shown === expected.text
          : new RegExp(expected.pattern, expected.flags).test(shown);
      },
      { selector, pattern, flags, text },
    );
  } catch (cause) {
    const shown = await page.locator(selector).first().textContent({ timeout: 1_000 }).catch(String);
    throw new Error(`${selector} does not show ${String(wanted)}, but: ${shown}`, { cause });
  }
}

/** Resolves when a list of the page has exactly these items. Rejects with those it had last. */
export async function lists(page: Page, selector: string, items: readonly string[]): Promise<void> {
  try {
    await page.waitForFunction(
      (expected) =>
        JSON.stringify([...document.querySelectorAll(`${expected.selector} > li`)].map((item) => item.textContent)) ===
        expected.items,
      { selector, items: JSON.stringify(items) },
    );
  } catch (cause) {
    const found = await page.locator(`${selector} > li`).allTextContents();
    throw new Error(`${selector} does not list ${JSON.stringify(items)}, but: ${JSON.stringify(found)}`, { cause });
  }
}
