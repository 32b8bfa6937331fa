import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { beforeAll, describe, expect, it } from "vitest"
import { perMinute } from "../../../src/account/feedback/Feedback.ts"
import { ProjectId } from "../../../src/domain/Ids.ts"
import type { PromptClass } from "../../../src/domain/PromptClass.ts"
import { publishPending } from "../../../src/routing/evidence/Publishing.ts"
import { QualityEvidence } from "../../../src/routing/evidence/QualityEvidenceStore.ts"
import { AccountTransactions } from "../../../src/sql/AccountDatabase.ts"
import type { FeedbackOut } from "../../../src/wire/account/Feedback.ts"
import type { RouteOut } from "../../../src/wire/account/Route.ts"
import { databaseKinds, newPerson, operatorOf, sendTo, startsNode } from "../../support/AccountService.ts"
import { errorOf, jsonOf } from "../../support/Responses.ts"
import { testKey } from "../../support/Service.ts"

const code = [{ role: "user", content: "Write a Python function that reverses a linked list, with unit tests." }]

describe.each(databaseKinds)("feedback on %s", (kind) => {
  const node = startsNode(kind)
  let project: ProjectId
  let call: ReturnType<typeof sendTo>
  beforeAll(async () => {
    const operator = await operatorOf(node)
    project = ProjectId.make(
      (await jsonOf<{ readonly default_project_id: string }>(await operator.send("GET", "/api/me"))).default_project_id
    )
    call = sendTo(node.url, { authorization: `Bearer ${testKey}` })
  })

  const answerOf = async (more: object = {}) =>
    jsonOf<{ readonly id: string; readonly model: string }>(
      await call("POST", "/v1/chat/completions", { model: "auto", messages: code, ...more })
    )
  const grade = (request_id: string, score: number) => call("POST", "/v1/feedback", { request_id, score })
  /** With a key of a project of their own. */
  const otherTenant = async () => {
    const other = await newPerson(node)
    const { id } = await jsonOf<{ readonly id: string }>(
      await other.send("POST", "/api/me/projects", { name: "theirs" })
    )
    const made = await other.send("POST", `/api/projects/${id}/keys`, { name: "theirs" })
    const { api_key } = await jsonOf<{ readonly api_key: string }>(made)
    return sendTo(node.url, { authorization: `Bearer ${api_key}` })
  }
  const graded = async (response: Response) => jsonOf<typeof FeedbackOut.Encoded>(response)

  it("names the model and the class that it counts for, and counts once for each call", async () => {
    const { id, model } = await answerOf()
    const first = await graded(await grade(id, 1))
    expect(first).toEqual({
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      model,
      class: "code",
      recorded: true
    })
    expect(await graded(await grade(first.request_id, 0))).toEqual({ ...first, recorded: false })
  })

  it("is refused for what says nothing about routing, and for calls that the project has not", async () => {
    const pinned = await answerOf({ model: "sim/fast" })
    expect(await errorOf(await grade(pinned.id, 1))).toEqual([400, "invalid_value", "request_id"])
    expect(await errorOf(await grade(crypto.randomUUID(), 1))).toEqual([404, "not_found", null])
    expect(await errorOf(await grade("nobody's", 1))).toEqual([400, "invalid_value", "request_id"])
    expect(await (await grade("nobody's", 1)).json()).toMatchObject({
      error: {
        message: expect.stringContaining("expected a request id: the header 'x-request-id' of a response, or its 'id'")
      }
    })
    expect(await errorOf(await grade(crypto.randomUUID(), 1.5))).toEqual([400, "invalid_value", "score"])
    expect(await errorOf(await call("POST", "/v1/feedback", { score: 1 }))).toEqual([
      400,
      "missing_required_parameter",
      "request_id"
    ])
    expect(await errorOf(await call("GET", "/v1/feedback"))).toEqual([400, "method_not_allowed", null])
    expect((await sendTo(node.url, {})("POST", "/v1/feedback", {})).status).toBe(401)
    const { id } = await answerOf()
    const stranger = await otherTenant()
    expect(await errorOf(await stranger("POST", "/v1/feedback", { request_id: id, score: 0 }))).toEqual([
      404,
      "not_found",
      null
    ])
  })

  it("moves the routing of its project from 30 grades on, and that of no other", async () => {
    const decided = async (send: ReturnType<typeof sendTo>) => {
      const { candidates } = await jsonOf<typeof RouteOut.Encoded>(
        await send("POST", "/v1/route", { model: "auto", messages: code, alpha: 1 })
      )
      return { first: candidates[0]?.model, of: (id?: string) => candidates.find(({ model }) => model === id)?.quality }
    }
    const before = await decided(call)
    /** As many calls would have been graded as useless. */
    const useless = (count: number) =>
      node.run(
        Effect.gen(function* () {
          const evidence = yield* QualityEvidence
          const gradedAtMillis = yield* Clock.currentTimeMillis
          yield* evidence.record(
            Array.from({ length: count }, () => ({
              projectId: project,
              promptClass: "code" satisfies PromptClass,
              model: before.first ?? "",
              source: "feedback" as const,
              sourceId: crypto.randomUUID(),
              mean: 0,
              grades: 1,
              comparison: null,
              gradedAtMillis
            }))
          )
          yield* publishPending(yield* AccountTransactions, evidence)
          expect(yield* evidence.pending).toEqual([])
        })
      )
    await useless(25)
    expect(await decided(call)).toMatchObject({ first: before.first })
    await useless(60)
    const after = await decided(call)
    expect(after.first).not.toBe(before.first)
    expect(after.of(before.first)).toBeLessThan((before.of(before.first) ?? 0) / 2)
    expect(after.of(after.first)).toBeCloseTo(before.of(after.first) ?? 0)
    expect((await decided(await otherTenant())).first).toBe(before.first)
    // the calls of the project are tried again by the same grades
    const { model } = await answerOf({ alpha: 1 })
    expect(model).toBe(after.first)
  })

  it("is taken at a bounded rate", async () => {
    let taken = 0
    let refused: Response | undefined
    for (let batch = 0; batch < 30 && refused === undefined; batch++) {
      const answers = await Promise.all(Array.from({ length: 100 }, () => grade(crypto.randomUUID(), 1)))
      refused = answers.find(({ status }) => status === 429)
      taken += answers.filter(({ status }) => status === 404).length
    }
    expect(taken).toBeGreaterThan(perMinute - 50)
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(0)
  })
})
