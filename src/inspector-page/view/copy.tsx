import { useState } from "preact/hooks";

/** A text that a click copies. */
export function Copy({
  text,
  shown = text,
  label,
}: {
  readonly text: string;
  readonly shown?: string;
  readonly label: string;
}) {
  const [isCopied, setCopied] = useState(false);
  const copy = (): void => {
    // A page over plain http has no clipboard.
    if (!("clipboard" in navigator)) return;
    navigator.clipboard.writeText(text).then(
      () => {
        setCopied(true);
        setTimeout(() => setCopied(false), 1_500);
      },
      () => {},
    );
  };
  return (
    <button type="button" class="copy" title={`Copy ${label}`} aria-label={`Copy ${label}: ${shown}`} onClick={copy}>
      <code>{shown}</code>
      <span class="copied" role="status">
        {isCopied ? "copied" : ""}
      </span>
    </button>
  );
}
