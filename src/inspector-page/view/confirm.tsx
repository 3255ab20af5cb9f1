import { useEffect, useRef, useState } from "preact/hooks";

interface Props {
  readonly label: string;
  readonly question: string;
  readonly confirm: string;
  readonly onConfirm: () => void;
}

/** A button that asks once more, in its own place. */
export function Confirm({ label, question, confirm, onConfirm }: Props) {
  const [isAsking, setAsking] = useState(false);
  const yes = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isAsking) yes.current?.focus();
  }, [isAsking]);
  if (!isAsking)
    return (
      <button type="button" class="small" onClick={() => setAsking(true)}>
        {label}
      </button>
    );
  return (
    <span
      class="confirm"
      role="group"
      aria-label={question}
      onKeyDown={(event) => {
        if (event.key === "Escape") setAsking(false);
      }}
    >
      {question}{" "}
      <button
        ref={yes}
        type="button"
        class="small danger"
        onClick={() => {
          setAsking(false);
          onConfirm();
        }}
      >
        {confirm}
      </button>{" "}
      <button type="button" class="small" onClick={() => setAsking(false)}>
        No
      </button>
    </span>
  );
}
