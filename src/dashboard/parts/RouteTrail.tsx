import type { Records } from "../api/client.ts"

/** The attempts of a call in order, each with how it ended. */
export const RouteTrail = ({ attempts }: { readonly attempts: ReadonlyArray<Records["Attempt"]> }) => (
  <>
    {attempts.map(({ error, model, status }, index) => (
      <span
        // biome-ignore lint/suspicious/noArrayIndexKey: an attempt has no id, and the list does not change
        key={index}
        className="chip"
        data-kind={status === "success" ? "ok" : "failed"}
        title={`${model}: ${error === null ? status : error.code}`}
      >
        {status === "success" ? "ok" : (error?.code ?? status)}
      </span>
    ))}
  </>
)
