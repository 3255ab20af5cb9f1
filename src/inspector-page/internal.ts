/** What only tests use. */
export { addressOf, fragmentOf, isSameActor, keyOfText, textOfKey } from "./model/address.js";
export type { InspectedEntry, InspectedSummary, WorkflowErrorView } from "./model/answers.js";
export { codeOf, errorChain } from "./model/errors.js";
export { changesOnly, diffLines } from "./model/line-diff.js";
export { prettyJson } from "./model/pretty-json.js";
export { segmentsOf } from "./model/segments.js";
export { headlineOf } from "./model/sentences.js";
export { timeAxis } from "./model/time-axis.js";
export { absolute, bytesOf, fromNow, grouped, lengthOf, shortLength } from "./model/times.js";
export { rowsOf, spanBelow, trailTo, treeOf } from "./model/tree.js";
export { valueText } from "./model/value-text.js";
export { verbsFor } from "./model/verbs.js";
export { ROW_HEIGHT, scrollFor, visibleRows } from "./model/visible-rows.js";
