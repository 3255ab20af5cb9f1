// Lets Node run the sources as they stand: `perdure/…` is an entry, and `./x.js` is `./x.ts`.
import { registerHooks } from "node:module";

const entry = new URL("../../src/entry/", import.meta.url);

registerHooks({
  resolve(specifier, context, nextResolve) {
    const [, subpath] = /^perdure(?:\/(.+))?$/.exec(specifier) ?? [];
    if (specifier.startsWith("perdure")) return nextResolve(new URL(`${subpath ?? "index"}.ts`, entry).href, context);
    const isOurs = specifier.startsWith(".") && /\/src\/.+\.ts$/.test(context.parentURL ?? "");
    return nextResolve(isOurs ? specifier.replace(/\.js$/, ".ts") : specifier, context);
  },
});
