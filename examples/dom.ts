/** The element of the page that has this id. */
export function byId<T extends HTMLElement>(id: string, type: new () => T): T {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`The page has no ${type.name} "${id}"`);
  return element;
}

/** Shows texts as the items of a list, in place of those that it had. Text, never HTML: it comes from other people. */
export function showList(list: HTMLElement, texts: readonly string[]): void {
  list.replaceChildren(
    ...texts.map((text) => {
      const item = document.createElement("li");
      item.textContent = text;
      return item;
    }),
  );
}

/** What runs when a form is sent, instead of a request of the browser's own. A failure is shown. */
export function onSubmit(id: string, run: () => unknown): void {
  byId(id, HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    showError("");
    void (async () => run())().catch(showError);
  });
}

export function showError(error: unknown): void {
  byId("error", HTMLElement).textContent = error instanceof Error ? error.message : String(error);
}

// An address that differs only behind its # is no other page to a browser.
addEventListener("hashchange", () => location.reload());

/** Which thing the page is about: behind the # of its address, so that a reload and a copied link lead to the same. */
export function named(standard: string): string {
  return decodeURIComponent(location.hash.slice(1)) || standard;
}
