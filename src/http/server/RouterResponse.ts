import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { InvalidRequest } from "../../domain/GatewayError.ts"
import { errorBody } from "../../wire/ErrorBody.ts"
import * as Errors from "../Errors.ts"
import { jsonHeaders } from "./NodeResponse.ts"

export const errorResponse = ({ error, headers, status }: Errors.HttpError): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.raw(errorBody(error), { status, headers: { ...jsonHeaders, ...headers } })

/** A path for GET and HEAD; other methods get an error. */
export const getOnly = <E, R>(
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ method }) =>
    method === "GET" || method === "HEAD" ? answer : Effect.succeed(errorResponse(Errors.of(notAllowed(method))))
  )

export const notAllowed = (method: string): InvalidRequest => refusedFor(method, "GET")

export const notPost = (method: string): InvalidRequest => refusedFor(method, "POST")

const refusedFor = (method: string, other: "GET" | "POST"): InvalidRequest =>
  new InvalidRequest({
    code: "method_not_allowed",
    message: `${method} is not allowed here; use ${other}.`,
    param: null
  })
