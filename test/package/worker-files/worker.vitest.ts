import { test } from "vitest";
import { checkClaims } from "./claims.ts";

test("a Worker's files are loaded by vitest in Node", checkClaims);
