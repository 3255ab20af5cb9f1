/** A line of two texts: in both, or in one of them. */
export interface DiffLine {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
}

/** Beyond so many lines that differ, the middle is shown as replaced as a whole. */
const MAX_COMPARED = 1_000;

/** The lines of two texts, beside each other as far as they are the same. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [old, next] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < next.length - start && old.at(-1 - end) === next.at(-1 - end)) end += 1;
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: "same", text }));
  return [
    ...same(old.slice(0, start)),
    ...middle(old.slice(start, old.length - end), next.slice(start, next.length - end)),
    ...same(old.slice(old.length - end)),
  ];
}

/** Only what differs, with some lines around it; `text` of a cut is how many lines are left out. */
export function changesOnly(
  lines: readonly DiffLine[],
  around = 3,
): (DiffLine | { readonly kind: "cut"; readonly text: string })[] {
  const isShown = lines.map(() => false);
  lines.forEach(({ kind }, index) => {
    if (kind === "same") return;
    for (let near = Math.max(0, index - around); near <= Math.min(lines.length - 1, index + around); near += 1)
      isShown[near] = true;
  });
  const shown: (DiffLine | { kind: "cut"; text: string })[] = [];
  let hidden = 0;
  const cut = (): void => {
    if (hidden > 0) shown.push({ kind: "cut", text: `${hidden} line${hidden === 1 ? "" : "s"} unchanged` });
    hidden = 0;
  };
  lines.forEach((line, index) => {
    if (!isShown[index]) return void (hidden += 1);
    cut();
    shown.push(line);
  });
  cut();
  return shown;
}

/** The longest common subsequence, by its table. */
function middle(old: readonly string[], next: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: "removed", text });
  const added = (text: string): DiffLine => ({ kind: "added", text });
  if (old.length > MAX_COMPARED || next.length > MAX_COMPARED) return [...old.map(removed), ...next.map(added)];
  const width = next.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  const lengthAt = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = next.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        old[i] === next[j] ? lengthAt(i + 1, j + 1) + 1 : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < next.length) {
    if (old[i] === next[j]) {
      lines.push({ kind: "same", text: old[i] ?? "" });
      i += 1;
      j += 1;
    } else if (lengthAt(i + 1, j) >= lengthAt(i, j + 1)) lines.push(removed(old[i++] ?? ""));
    else lines.push(added(next[j++] ?? ""));
  }
  return [...lines, ...old.slice(i).map(removed), ...next.slice(j).map(added)];
}
