import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { KeyStatus } from "../../account/keys/KeyStatus.ts"
import { findEnded, RequestLog, settled } from "../../account/requests/RequestLog.ts"
import { type AccountError, NotFound } from "../../domain/AccountError.ts"
import type { CallerShape } from "../../domain/Caller.ts"
import { type GatewayError, InvalidRequest, ServiceRefused, Unauthenticated } from "../../domain/GatewayError.ts"
import { Ledger } from "../../ledger/Ledger.ts"
import { KeyStatusOut } from "../../wire/account/KeyStatus.ts"
import { requestIdOf } from "../../wire/RequestIdHex.ts"
import { LoadShedding } from "../overload/LoadShedding.ts"
import { jsonHeaders } from "../server/NodeResponse.ts"
import { answered, notAllowed } from "../server/RouterResponse.ts"
import { Security } from "./Security.ts"

/** What depends on the caller is in no shared cache. */
const headers = { ...jsonHeaders, "cache-control": "no-store" }

/** GET and HEAD of what belongs to the project key that is sent; the answer is JSON text. */
const ofKey = (
  answer: (caller: CallerShape, query: URLSearchParams) => Effect.Effect<string, GatewayError | AccountError>
) =>
  Effect.map(Effect.all([LoadShedding, Security]), ([loadShedding, security]) =>
    answered(
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const caller = yield* security.authenticate(NodeHttpServerRequest.toIncomingMessage(request))
        if (request.method !== "GET" && request.method !== "HEAD") return yield* notAllowed(request.method)
        if (loadShedding.rejects(caller.accountId)) return yield* new ServiceRefused({ reason: "overloaded" })
        return HttpServerResponse.raw(yield* answer(caller, new URL(request.url, "http://localhost").searchParams), {
          headers
        })
      })
    )
  )

/** GET /v1/key: limit and balance of the key itself. */
export const key = Effect.gen(function* () {
  const status = yield* KeyStatus
  const ledger = yield* Ledger
  return yield* ofKey((caller) =>
    Effect.gen(function* () {
      yield* settled(ledger.flushedOf(caller.accountId))
      const found = yield* status.of(caller.keyId)
      // it was deleted since it was authenticated
      if (Option.isNone(found)) return yield* new Unauthenticated()
      return JSON.stringify(encodeStatus(found.value))
    })
  )
})

const encodeStatus = Schema.encodeSync(KeyStatusOut)

/** GET /v1/generation?id=: a call of the key's project, by its request id or the id of its response. */
export const generation = Effect.gen(function* () {
  const log = yield* RequestLog
  const ledger = yield* Ledger
  return yield* ofKey((caller, query) =>
    Effect.gen(function* () {
      const given = query.get("id")
      if (given === null || given === "") return yield* missingId
      const id = requestIdOf(given)
      if (id === undefined) return yield* noSuchCall
      const found = yield* findEnded(log, ledger.flushedOf(caller.accountId), id)
      if (Option.isNone(found) || found.value.project_id !== caller.projectId) return yield* noSuchCall
      return JSON.stringify(found.value)
    })
  )
})

const missingId = new InvalidRequest({
  code: "missing_required_parameter",
  message: "Missing required parameter: 'id'.",
  param: "id"
})
const noSuchCall = new NotFound({ message: "Call not found, or it has not ended yet." })
