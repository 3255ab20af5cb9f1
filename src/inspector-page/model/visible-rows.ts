/** Height of a row of the list, in CSS pixels; the style sheet has the same. */
export const ROW_HEIGHT = 28;
/** Rows beyond the edges, so that a fast scroll shows no gap. */
const MARGIN = 12;

/** Which rows of a list are in the document: from the first up to, and without, the last. */
export function visibleRows(
  scrollTop: number,
  height: number,
  count: number,
): { readonly first: number; readonly last: number } {
  const first = Math.max(0, Math.min(count, Math.floor(scrollTop / ROW_HEIGHT)) - MARGIN);
  const last = Math.min(count, Math.ceil((scrollTop + height) / ROW_HEIGHT) + MARGIN);
  return { first: Math.min(first, last), last };
}

/** Where a list must be scrolled to so that a row is wholly in sight; undefined if it is. */
export function scrollFor(index: number, scrollTop: number, height: number): number | undefined {
  const top = index * ROW_HEIGHT;
  if (top < scrollTop) return top;
  return top + ROW_HEIGHT > scrollTop + height ? top + ROW_HEIGHT - height : undefined;
}
