import type { Records } from "../api/client.ts"

type Attempt = Records["Attempt"]

const endOf = ({ error, status }: Attempt): string => (status === "success" ? "ok" : (error?.code ?? status))

/** Attempts with the same model that ended the same, one after the other. */
interface Run {
  readonly model: string
  readonly end: string
  readonly length: number
}

const runsOf = (attempts: ReadonlyArray<Attempt>): ReadonlyArray<Run> => {
  const runs: Array<Run> = []
  for (const attempt of attempts) {
    const [model, end] = [attempt.model, endOf(attempt)]
    const last = runs.at(-1)
    if (last?.model === model && last.end === end) runs.splice(-1, 1, { ...last, length: last.length + 1 })
    else runs.push({ model, end, length: 1 })
  }
  return runs
}

/** What most codes begin with says nothing where there is little room. */
const shortOf = (end: string): string => end.replace(/^provider_/, "")

/** The attempts of a call in order, each with how it ended. */
export const RouteTrail = ({ attempts }: { readonly attempts: ReadonlyArray<Attempt> }) => (
  <>
    {runsOf(attempts).map(({ end, length, model }, index) => (
      <span
        // biome-ignore lint/suspicious/noArrayIndexKey: an attempt has no id, and the list does not change
        key={index}
        className="chip"
        data-kind={end === "ok" ? "ok" : "failed"}
        title={`${model}: ${end}`}
      >
        {shortOf(end)}
        {length === 1 ? "" : ` ×${length}`}
      </span>
    ))}
  </>
)
