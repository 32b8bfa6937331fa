import * as HttpApiClient from "@effect/platform/HttpApiClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { AccountApi } from "./AccountApi.ts"

/** Where the service is, and as whom. */
export interface AccountClientOptions {
  /** Of the service, without a path. */
  readonly baseUrl: string
  /** An identity token, as `POST /api/session` with `"transport": "bearer"` answers it; not a project key. */
  readonly token?: Redacted.Redacted
}

/** A typed client of the account API, with a method for each endpoint by group: `client.projects.getProject({ path: { id } })`. */
export const make = ({ baseUrl, token }: AccountClientOptions) =>
  HttpApiClient.make(AccountApi, {
    baseUrl,
    ...(token === undefined
      ? {}
      : { transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(Redacted.value(token))) })
  })

/** A client with one method for each endpoint of the account API, typed by its declaration. */
export type AccountClient = Effect.Effect.Success<ReturnType<typeof make>>
