// Type-checks every part of the project as the platform it runs on. `npm run types`, or `npm run types -- pure client`.
import process from "node:process";
// A dependency that came with the last change is there first.
import "./setup.mjs";
import { checkTypes, TYPE_PROJECTS } from "./type-projects.mjs";

const AT_ONCE = 2;

const chosen = process.argv.slice(2);
const waiting = chosen.length > 0 ? chosen : [...TYPE_PROJECTS];
const checkNext = async () => {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const output = await checkTypes(name);
    console.log(output === "" ? `ok      tsconfig/${name}.json` : `FAILED  tsconfig/${name}.json\n${output}\n`);
    if (output !== "") process.exitCode = 1;
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, checkNext));
