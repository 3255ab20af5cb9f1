/** For tests; nothing in `src` imports this. */
export { PAGE_DOCUMENT, PAGE_POLICY } from "./inspector/page-document.js";
