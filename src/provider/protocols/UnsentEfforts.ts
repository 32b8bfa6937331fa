import type { Effort } from "../../domain/Chat.ts"
import { unsentEfforts as anthropic } from "./anthropic-messages/Reasoning.ts"
import { unsentEffortsOf as bedrock } from "./bedrock-converse/Reasoning.ts"
import { unsentEfforts as gemini } from "./gemini/Reasoning.ts"

/** Efforts for which the protocol has no name, for a model that takes an effort by name; chat completions have all of them. */
export const unsentEfforts = (protocol: string, upstreamModel: string): ReadonlyArray<Effort> => {
  switch (protocol) {
    case "anthropic-messages":
      return anthropic
    case "bedrock-converse":
      return bedrock(upstreamModel)
    case "gemini":
      return gemini
    default:
      return []
  }
}
