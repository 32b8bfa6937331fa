import * as Either from "effect/Either"
import { artifactCall, isArtifactTool } from "./ArtifactTools.ts"
import { nameIn } from "./Drafts.ts"
import type { Step } from "./MessageStore.ts"

type Call = Step["calls"][number]

/** What a model reads in place of the text of an artifact that was deleted. */
export const erasedText = "[deleted by the user]"

/** Without the text of this artifact, in arguments that are still valid; `undefined` where none of the calls names it. */
export const withoutArtifact = (steps: ReadonlyArray<Step>, name: string): ReadonlyArray<Step> | undefined => {
  const isOfArtifact = (call: Call) => isArtifactTool(call.name) && artifactNamed(call) === name
  if (!steps.some(({ calls }) => calls.some(isOfArtifact))) return undefined
  return steps.map(({ at, calls }) => ({
    at,
    calls: calls.map((call) => (isOfArtifact(call) ? erased(call, name) : call))
  }))
}

/** Also of a call whose arguments are not valid, or were cut off. */
const artifactNamed = ({ arguments: json }: Call): unknown => {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === "object" && value !== null && "name" in value ? value.name : undefined
  } catch {
    return nameIn(json)
  }
}

const erased = (call: Call, name: string): Call =>
  Either.match(artifactCall(call.name, call.arguments), {
    // the result quotes what is not valid
    onLeft: () => ({ ...call, arguments: JSON.stringify({ name }), result: "The arguments are not valid." }),
    onRight: (made) => ({
      ...call,
      arguments: JSON.stringify(
        made._tag === "Write"
          ? { name, media_type: made.document.media_type, content: erasedText }
          : { name, old_text: erasedText, new_text: erasedText }
      )
    })
  })
