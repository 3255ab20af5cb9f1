import { useState } from "preact/hooks";
import { valueText } from "../model/value-text.js";

const MORE = 2_000_000;

/** A value as text, of which at first only the beginning is shown. */
export function Value({ value, label }: { readonly value: unknown; readonly label: string }) {
  const [isWhole, setWhole] = useState(false);
  const { text, isCut } = valueText(value, isWhole ? MORE : 10_000);
  return (
    <>
      <pre class="value" tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
      {isCut && !isWhole && (
        <button type="button" class="small" onClick={() => setWhole(true)}>
          Show more
        </button>
      )}
      {isCut && isWhole && <p class="faint">There is more than the page shows. The download has all of it.</p>}
    </>
  );
}
