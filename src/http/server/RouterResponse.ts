import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { AccountError } from "../../domain/AccountError.ts"
import { type GatewayError, InvalidRequest } from "../../domain/GatewayError.ts"
import * as Defects from "../../observe/Defects.ts"
import { errorBody } from "../../wire/ErrorBody.ts"
import * as Errors from "../Errors.ts"
import { jsonHeaders } from "./NodeResponse.ts"

export const errorResponse = ({ error, headers, status }: Errors.HttpError): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.raw(errorBody(error), { status, headers: { ...jsonHeaders, ...headers } })

/**
 * The response of a handler whatever becomes of it: failures by the table of errors, a defect counted, logged and reported without
 * details. The platform's own answer to a defect has no body, and nothing is logged.
 */
export const answered = <R>(
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, GatewayError | AccountError, R>,
  respond: (error: Errors.HttpError) => HttpServerResponse.HttpServerResponse = errorResponse,
  message: string = Defects.ofRequest
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R> =>
  Effect.catchAllCause(answer, (cause) => {
    if (Cause.isInterruptedOnly(cause)) return Effect.interrupt
    const failure = Cause.failureOption(cause)
    return failure._tag === "Some"
      ? Effect.succeed(respond(Errors.of(failure.value)))
      : Effect.as(Defects.report(message, cause), respond(Errors.internal))
  })

/** A path for GET and HEAD; other methods get an error. */
export const getOnly = <R>(
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R | HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ method }) =>
    answered(method === "GET" || method === "HEAD" ? answer : Effect.fail(notAllowed(method)))
  )

export const notAllowed = (method: string): InvalidRequest => refusedFor(method, "GET")

export const notPost = (method: string): InvalidRequest => refusedFor(method, "POST")

const refusedFor = (method: string, other: "GET" | "POST"): InvalidRequest =>
  new InvalidRequest({
    code: "method_not_allowed",
    message: `${method} is not allowed here; use ${other}.`,
    param: null
  })
