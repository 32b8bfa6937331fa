import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import { describe, expect, it } from "vitest"
import { type CallFailure, ProvidersFailed, StoreUnavailable } from "../../../src/domain/GatewayError.ts"
import { KeyId } from "../../../src/domain/Ids.ts"
import { keepingBody } from "../../../src/http/inference/KeptAnswers.ts"
import { openAiFormat } from "../../../src/http/WireFormat.ts"
import { requestId } from "../../provider/protocols/calls.ts"

const attempt = {
  provider: "one",
  model: "one/m",
  status: "error",
  error: { code: "provider_error", message: null },
  cost: { amount_microusd: 0, currency: "USD", basis: "charged" },
  latency_ms: 1
} as const

/** The status of what is kept of a call that has ended in this way. */
const keptOf = (exit: Exit.Exit<unknown, CallFailure>): number | undefined =>
  keepingBody(
    ({ body, contentType, headers, status }) => ({
      keyId: KeyId.make("00000000-0000-7000-8000-000000000001"),
      idempotencyKey: "key",
      status,
      contentType,
      headers,
      sealed: body,
      keptMillis: 1
    }),
    { format: openAiFormat, requestId },
    {}
  )(exit)?.status

describe("What is kept of a failed call for the repetition of its request", () => {
  it("is the failure of the providers that were tried", () => {
    expect(keptOf(Exit.fail(new ProvidersFailed({ attempts: [attempt], retryAfterMillis: null })))).toBe(502)
  })

  it.each([
    ["no provider could be tried", Exit.fail(new ProvidersFailed({ attempts: [], retryAfterMillis: null }))],
    ["the database did not respond", Exit.fail(new StoreUnavailable({ cause: "away" }))],
    ["the call was interrupted", Exit.interrupt(FiberId.none)]
  ])("is nothing where %s: the request is run again", (_, exit) => {
    expect(keptOf(exit)).toBeUndefined()
  })
})
