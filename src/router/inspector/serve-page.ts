import { requireMethod } from "../request/preconditions.js";
import type { PartRequest } from "../routes/router-part.js";
import { PAGE_DOCUMENT, PAGE_POLICY } from "./page-document.js";

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": PAGE_POLICY,
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** The page, which is code alone: who may use it is asked by the routes that it calls (INSPECT-8). Undefined below it. */
export function servePage({ request, path, basePath }: PartRequest): Response | undefined {
  if (path !== "/inspector" && path !== "/inspector/") return undefined;
  requireMethod(request, ["GET"]);
  // The paths of its requests begin with its folder.
  if (!path.endsWith("/")) return new Response(null, { status: 308, headers: { location: `${basePath}/inspector/` } });
  return new Response(PAGE_DOCUMENT, { headers: HEADERS });
}
