import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Accounts, Billing, CurrentUser, Keys, ProductionLayer, ProjectPolicies, Projects } from "../../src/index.ts"

const stack = ProductionLayer({
  database: { directory: ":memory:" },
  providers: { simulated: true },
  rateLimits: {
    key: { requestsPerMinute: 2, tokensPerMinute: null, concurrentRequests: null },
    project: { requestsPerMinute: 2, tokensPerMinute: null, concurrentRequests: null }
  }
})
const unchecked = () => Effect.void
const wrongNames = ["", "  ", "a\u0000b", "x".repeat(201)]

it.scopedLive("what the account API would refuse is an error of the programs, not a defect", () =>
  Effect.gen(function* () {
    const [accounts, billing, keys, policies, projects] = [
      yield* Accounts,
      yield* Billing,
      yield* Keys,
      yield* ProjectPolicies,
      yield* Projects
    ]
    const operator = yield* accounts.create({ name: "operations", isOperator: true })
    const user = yield* accounts.create({ name: "search" })
    const as = Effect.provideService(CurrentUser, user)
    const project = yield* as(projects.create("search"))
    const { id: key } = yield* as(keys.create(project.id, { name: "backend", limitMicroUsd: null }))
    const refused = (program: Effect.Effect<unknown, { readonly _tag: string }>, param: string) =>
      Effect.map(Effect.flip(program), (error) => expect(error).toMatchObject({ _tag: "InvalidRequest", param }))

    for (const name of wrongNames) {
      yield* refused(accounts.create({ name }), "name")
      yield* refused(as(projects.create(name)), "name")
      yield* refused(as(projects.update(project.id, { name }, unchecked)), "name")
      yield* refused(as(keys.create(project.id, { name, limitMicroUsd: null })), "name")
      yield* refused(as(keys.update(key, { name }, unchecked)), "name")
    }
    for (const amount of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      yield* refused(accounts.create({ name: "search", creditMicroUsd: amount }), "credit_microusd")
      yield* refused(as(keys.create(project.id, { name: "two", limitMicroUsd: amount })), "spend_limit_microusd")
      yield* refused(as(keys.update(key, { limitMicroUsd: amount }, unchecked)), "spend_limit_microusd")
      yield* refused(as(projects.update(project.id, { limitMicroUsd: amount }, unchecked)), "spend_limit_microusd")
      yield* refused(as(keys.rotate(key, amount)), "grace_seconds")
      const credit = billing.credit(user.accountId, amount, "thanks")
      yield* refused(Effect.provideService(credit, CurrentUser, operator), "amount_microusd")
    }
    // no limit is not a way around the configured one either
    for (const requestsPerMinute of [Number.NaN, 0, -1, 0.5]) {
      const rateLimits = { requestsPerMinute, tokensPerMinute: null, concurrentRequests: null }
      yield* refused(as(projects.update(project.id, { rateLimits }, unchecked)), "rate_limits.requests_per_minute")
      yield* refused(as(keys.update(key, { rateLimits }, unchecked)), "rate_limits.requests_per_minute")
    }
    const policy = yield* as(policies.read(project.id))
    for (const [field, value] of [
      ["default_alpha", 5],
      ["exploration_share", 7],
      ["max_input_price_microusd_per_million", -1]
    ] as const) {
      yield* refused(as(policies.write(project.id, { ...policy, [field]: value }, unchecked)), field)
    }
    expect(yield* as(keys.read(key))).toMatchObject({ name: "backend", limitMicroUsd: null, rateLimits: null })
    expect(yield* as(projects.read(project.id))).toMatchObject({
      name: "search",
      limitMicroUsd: null,
      rateLimits: null
    })
  }).pipe(Effect.provide(stack))
)
