import { checkClaims } from "./claims.ts";

await checkClaims();
console.log("claims hold");
