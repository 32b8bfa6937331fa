import type { ChatRequest, Restriction, RoutingControls } from "../domain/Chat.ts"
import { InvalidRequest, ModelNotFound, NoEligibleModel } from "../domain/GatewayError.ts"
import type { Eligibility } from "./Eligibility.ts"

/** Why a request is ranked to nothing. */
export type RankFailure = ModelNotFound | NoEligibleModel | InvalidRequest

export const depthNeedsModel = (): InvalidRequest =>
  new InvalidRequest({
    code: "unsupported_value",
    message: "A numeric reasoning effort requires a concrete model that supports one.",
    param: "reasoning_effort"
  })

/** The first stage without a model decides the error; to a project's keys, models that the project excludes do not exist. */
export const noneEligible = (request: ChatRequest, pinned: boolean, sifted: Eligibility): RankFailure => {
  const requested = request.model
  const { byProject, capable, excluded, largestExclusion, minCostMicroUsd, permitted } = sifted
  if (permitted === 0) {
    const total = Object.values(excluded).reduce((sum, count) => sum + count, 0)
    return pinned && byProject === total
      ? new ModelNotFound({ model: requested })
      : new NoEligibleModel({ excluded, param: blamedField(request.routing, excluded) })
  }
  if (capable === 0 && largestExclusion !== null) {
    return new InvalidRequest({
      code: "unsupported_for_provider",
      message: `${pinned ? `The model '${requested}' does` : "The models that could take this call do"} not support ${largestExclusion.what}.`,
      param: largestExclusion.param
    })
  }
  if ((excluded["request_max_cost"] ?? 0) > 0) return tooLowCost(request.routing, minCostMicroUsd)
  return new InvalidRequest({
    code: "context_length_exceeded",
    message: `Prompt and requested output are longer than ${pinned ? `the model '${requested}' supports` : "any eligible model supports"}.`,
    param: "messages"
  })
}

const tooLowCost = ({ maxCostMicroUsd }: RoutingControls, minMicroUsd: number | null): InvalidRequest =>
  new InvalidRequest({
    code: "invalid_value",
    message:
      minMicroUsd === null
        ? "The cost of the call cannot be limited: no eligible model has a known price."
        : `The prompt alone may cost more than max_cost_microusd, which is ${maxCostMicroUsd}: at the cheapest eligible model at least ${minMicroUsd} micro-USD are needed.`,
    param: "max_cost_microusd"
  })

/** The field of the request that has excluded most models; what the project excludes is the fault of none. */
const blamedField = (routing: RoutingControls, excluded: Readonly<Record<string, number>>): string => {
  let [most, blamed] = [0, "model"]
  for (const [reason, field] of [
    ["request_restriction", isOpen(routing.models) ? "provider" : "models"],
    ["request_price_cap", capField(routing)],
    ["routing_config", routing.routingConfig === undefined ? "model" : "routing_config"],
    ["routing_config_price_cap", routing.routingConfig === undefined ? "model" : "routing_config"]
  ] as const) {
    const count = excluded[reason] ?? 0
    if (count > most) [most, blamed] = [count, field]
  }
  return blamed
}

const isOpen = ({ allow, deny }: Restriction): boolean => allow === null && deny.length === 0

const capField = ({ maxInputPriceMicroUsdPerMillion: input }: RoutingControls): string =>
  input === undefined ? "max_output_price_microusd_per_million" : "max_input_price_microusd_per_million"
