import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import { applyStep } from "../../../src/analysis/actions/ApplyStep.ts"
import type { AnalysisAction } from "../../../src/wire/account/AnalysisActions.ts"

type Action = Parameters<typeof applyStep>[0]

const policy: Action = {
  kind: "policy",
  patch: { method: "PUT", path: "/api/projects/p/policy", body: { default_alpha: 0.3 } },
  receipt: null
}
const hint: Action = { kind: "client_hint", patch: { text: "Send the tools in one order." }, receipt: null }
const withReceipt = (state: "running" | "undone"): Action => ({
  ...policy,
  receipt: { state } as AnalysisAction["receipt"]
})
const canary = { share: 0.5, days: 7 }
const outcomeOf = (...request: Parameters<typeof applyStep>) =>
  Either.match(applyStep(...request), { onLeft: (error) => error, onRight: ({ _tag }) => _tag })

describe("a request to apply an action", () => {
  it("changes the project from the version that the preview has shown", () => {
    expect(applyStep(policy, false, { config_version: 3, canary })).toEqual(
      Either.right({ _tag: "Change", target: { kind: "policy" }, configVersion: 3, canary })
    )
  })

  it("is refused without a version", () => {
    expect(outcomeOf(policy, false, {})).toMatchObject({ code: "missing_required_parameter", param: "config_version" })
  })

  it("follows a hint, which has neither a version nor a hold-out", () => {
    expect(outcomeOf(hint, false, {})).toBe("FollowHint")
    expect(outcomeOf(hint, false, { config_version: 3 })).toMatchObject({ param: "config_version" })
    expect(outcomeOf(hint, true, { canary })).toMatchObject({ param: "canary" })
  })

  it("does nothing where the action is applied, whatever the version", () => {
    expect(outcomeOf(policy, true, {})).toBe("None")
    expect(outcomeOf(policy, true, { config_version: 9 })).toBe("None")
    expect(outcomeOf(hint, true, {})).toBe("None")
  })

  it("asks for a hold-out again only while it runs", () => {
    expect(outcomeOf(withReceipt("running"), true, { canary })).toBe("None")
    expect(outcomeOf(withReceipt("undone"), true, { canary })).toMatchObject({ _tag: "AlreadyExists" })
    expect(outcomeOf(policy, true, { canary })).toMatchObject({ _tag: "AlreadyExists" })
  })
})
