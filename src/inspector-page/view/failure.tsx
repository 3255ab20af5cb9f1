import type { ApiError } from "../store/api.js";

/** What is wrong, and what one can do about it. */
export function Failure({ error, onRetry }: { readonly error: ApiError; readonly onRetry?: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>
        {error.message} {ADVICE[error.code]}
      </p>
      <p class="faint">
        <code>{error.code}</code>
        {onRetry && (
          <button type="button" class="small" onClick={onRetry}>
            Try again
          </button>
        )}
      </p>
    </div>
  );
}

const ADVICE: Readonly<Record<string, string>> = {
  "actor/not_found": "Check the name and the key; looking creates nothing.",
  "storage/newer_format": "Deploy the newer release again, and look with it.",
  "workflow/not_deployed": "Everything else is shown below.",
  "inspector/forbidden": "Ask whoever runs this Worker for the right to change things.",
  "feature/unsupported": "The object runs an older release; it takes the new one when it next starts.",
};
