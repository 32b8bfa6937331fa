import { isObject, type Json, listAt, objectAt } from "../../Json.ts"

/** Log probabilities of an event's tokens, as chat completions spells them. */
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

/** What chat completions says of a token whose probability is not known to be anything. */
const unlikely = -9999
