import { isObject, type Json, listAt, objectAt } from "../shared/Json.ts"

/** Log probabilities of an event's tokens in the format of chat completions. */
export const logprobsOf = (candidate: Json): ReadonlyArray<unknown> => {
  const result = objectAt(candidate, "logprobsResult")
  const alternatives = listAt(result, "topCandidates")
  return listAt(result, "chosenCandidates").map((chosen, at) => {
    const others = alternatives[at]
    return {
      ...tokenOf(chosen),
      top_logprobs: listAt(isObject(others) ? others : undefined, "candidates").map(tokenOf)
    }
  })
}

const tokenOf = (value: unknown): Json => {
  const token = isObject(value) && typeof value["token"] === "string" ? value["token"] : ""
  const logprob = isObject(value) ? value["logProbability"] : undefined
  return { token, logprob: typeof logprob === "number" ? logprob : unlikely, bytes: [...Buffer.from(token, "utf8")] }
}

/** The value that chat completions uses for a token without a known probability. */
const unlikely = -9999
