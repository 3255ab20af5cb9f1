/** What a Worker's files import that is no file of JavaScript, as the platform and its bundler understand it. */

/** What stands for `cloudflare:workers`: an entry of this package, so that it is found wherever that is installed. */
export const WORKERS_MODULE = "perdure/testing/cloudflare-workers";

/**
 * What an import of the platform means here; undefined for any other.
 *
 * @throws Error for what exists on the platform alone
 */
export function runtimeModule(specifier: string): typeof WORKERS_MODULE | undefined {
  if (!specifier.startsWith("cloudflare:")) return undefined;
  if (specifier === "cloudflare:workers") return WORKERS_MODULE;
  throw new Error(
    `"${specifier.slice(0, 100)}" exists in the Workers runtime alone: of its modules perdure/testing has cloudflare:workers. ` +
      "Import it where it is used, or test that code inside workerd (perdure/testing/workers)",
  );
}

const TEXT = /\.(?:sql|txt|html)$/;

/** Whether the bundler makes a text of this file. */
export function isTextFile(path: string): boolean {
  return TEXT.test(path);
}

/** A module with this value as its default. */
export function moduleOf(value: unknown): string {
  return `export default ${JSON.stringify(value)};`;
}
