// What a library of the application exports of the gateway without writing its types: the compiler has to find a name for each.
import * as Effect from "effect/Effect"
import {
  type ChatRequest,
  Gateway,
  IdGenerator,
  Policy,
  type ProjectPolicy,
  Providers,
  RateLimits,
  RetryBudget,
  RoutingConfigurations
} from "model-routing-gateway"
import { MemoryLedger } from "model-routing-gateway/testing"

export const countTokens = (request: ChatRequest) => Effect.flatMap(Gateway, (gateway) => gateway.countTokens(request))
export const ids = Effect.map(IdGenerator, (ids) => ids)
export const policy = Effect.map(Policy, (policy) => policy)
export const experimentOf = (policy: ProjectPolicy) => policy.experiment
export const providers = Effect.map(Providers, (providers) => providers)
export const rateLimits = Effect.map(RateLimits, (rateLimits) => rateLimits)
export const admit = Effect.map(RateLimits, (rateLimits) => rateLimits.admit)
export const retryBudget = Effect.map(RetryBudget, (budget) => budget)
export const configurations = Effect.map(RoutingConfigurations, (configurations) => configurations)
export const ledger = Effect.map(MemoryLedger, (ledger) => ledger)
