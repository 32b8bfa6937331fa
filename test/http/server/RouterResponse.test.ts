import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { describe, expect, it } from "vitest"
import { ModelNotFound } from "../../../src/domain/GatewayError.ts"
import { answered, getOnly } from "../../../src/http/server/RouterResponse.ts"
import { logTo } from "../../support/LogLines.ts"

const bodyOf = (response: HttpServerResponse.HttpServerResponse) =>
  JSON.parse(String(response.body._tag === "Raw" ? response.body.body : "{}"))

/** The status, the error's code, and what was logged. */
const resultOf = async (
  run: Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>,
  method = "GET"
) => {
  const lines: Array<string> = []
  const request = HttpServerRequest.fromWeb(new Request("http://localhost/v1/key", { method }))
  const response = await Effect.runPromise(
    run.pipe(Effect.provideService(HttpServerRequest.HttpServerRequest, request), Effect.provide(logTo(lines)))
  )
  return { status: response.status, code: bodyOf(response).error?.code, lines }
}

describe("the response of a handler", () => {
  it("is its own, or the error that it fails with, and nothing is logged", async () => {
    expect(await resultOf(answered(Effect.succeed(HttpServerResponse.empty({ status: 204 }))))).toEqual({
      status: 204,
      code: undefined,
      lines: []
    })
    const unknown = answered(Effect.fail(new ModelNotFound({ model: "x" })))
    expect(await resultOf(unknown)).toEqual({ status: 404, code: "model_not_found", lines: [] })
  })

  it("has a body and a log line where it ends in a defect, also for what takes no credential", async () => {
    for (const run of [answered(Effect.die("a bug")), getOnly(Effect.die("a bug"))]) {
      const { code, lines, status } = await resultOf(run)
      expect([status, code]).toEqual([500, "internal_error"])
      expect(lines).toHaveLength(1)
      expect(lines[0]).toMatch(/level=ERROR .*a request ended in a defect.*a bug/)
    }
  })

  it("has the given form, of defects too", async () => {
    const respond = ({ status }: { readonly status: number }) => HttpServerResponse.empty({ status: status + 1 })
    expect((await resultOf(answered(Effect.die("a bug"), respond))).status).toBe(501)
    expect((await resultOf(answered(Effect.fail(new ModelNotFound({ model: "x" })), respond))).status).toBe(405)
  })

  it("is none where the request is interrupted", async () => {
    const exit = await Effect.runPromiseExit(answered(Effect.interrupt))
    expect(Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)).toBe(true)
  })

  it("of a path that is only read is an error for other methods", async () => {
    const read = getOnly(Effect.succeed(HttpServerResponse.empty()))
    expect((await resultOf(read, "HEAD")).status).toBe(204)
    expect(await resultOf(read, "POST")).toEqual({ status: 400, code: "method_not_allowed", lines: [] })
  })
})
