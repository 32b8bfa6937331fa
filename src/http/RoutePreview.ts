import * as Effect from "effect/Effect"
import type { RoutedProject } from "../domain/Caller.ts"
import { withoutEffect } from "../domain/Candidate.ts"
import type { ChatRequest } from "../domain/Chat.ts"
import type { GatewayError, InvalidRequest, StoreUnavailable } from "../domain/GatewayError.ts"
import { promptClasses } from "../domain/PromptClass.ts"
import type { Preview } from "../gateway/Admission.ts"
import type { CallRunnerShape } from "../gateway/CallRunner.ts"
import type { RouteHealth } from "../routing/RouteHealth.ts"
import type { RouteOut } from "../wire/account/Route.ts"
import * as Errors from "./Errors.ts"
import { chatEndpoint } from "./inference/ChatEndpoint.ts"
import { located } from "./inference/InferenceEndpoint.ts"

/** The dry run of the router on the body of a chat completion; that nothing could take the call is a result, too. */
export const previewOf = (
  calls: Pick<CallRunnerShape, "preview">,
  nowMillis: number,
  caller: RoutedProject,
  json: unknown
): Effect.Effect<RouteOut, InvalidRequest | StoreUnavailable> =>
  Effect.flatMap(chatEndpoint.decode(json, undefined), (decoded) => {
    const { request } = decoded
    return located(chatEndpoint, decoded, calls.preview(caller, request)).pipe(
      Effect.map((preview) => routed(request, preview, nowMillis)),
      Effect.catchTags({
        InvalidRequest: (error) => Effect.succeed(refused(request, error)),
        ModelNotFound: (error) => Effect.succeed(refused(request, error)),
        NoEligibleModel: (error) => Effect.succeed(refused(request, error)),
        RoutingConfigNotFound: (error) => Effect.succeed(refused(request, error))
      })
    )
  })

export const healthOut = ({ failure, latencyMillis, openUntilMillis }: RouteHealth, nowMillis: number) => ({
  failure,
  open_for_ms: Math.max(0, openUntilMillis - nowMillis),
  latency_ms: latencyMillis
})

const routed = (request: ChatRequest, preview: Preview, nowMillis: number): RouteOut => {
  const { allowed, health, likelyPromptTokens, options, ranked } = preview
  return {
    requested_model: request.model,
    candidates: ranked.candidates.all().map((candidate, index) => ({
      model: candidate.model.id,
      provider: candidate.model.providerId,
      quality: candidate.quality,
      score: candidate.score,
      expected_cost_microusd: candidate.expectedCost,
      max_cost_microusd: (options[index] ?? options[0]).max,
      effort: candidate.effort ?? null,
      dropped_parameters: withoutEffect(candidate, request),
      health: healthOut(health[index] ?? health[0], nowMillis)
    })),
    classes: Object.fromEntries(
      promptClasses.flatMap((name, at) => {
        const part = ranked.features.classes[at] ?? 0
        return part === 0 ? [] : [[name, part / 1_000]]
      })
    ),
    skipped: ranked.resting,
    reason: ranked.reason,
    routing_config: allowed.routingConfig,
    alpha: ranked.pinned ? null : allowed.alpha,
    fallback_enabled: ranked.fallbackEnabled,
    excluded: ranked.excluded,
    prompt_tokens: likelyPromptTokens,
    policy_version: allowed.policyVersion,
    error: null
  }
}

const refused = (request: ChatRequest, error: GatewayError): RouteOut => ({
  requested_model: request.model,
  candidates: [],
  classes: {},
  skipped: [],
  reason: null,
  routing_config: null,
  alpha: null,
  fallback_enabled: false,
  excluded: error._tag === "NoEligibleModel" ? error.excluded : {},
  prompt_tokens: null,
  policy_version: null,
  error: Errors.of(error).error
})
