import type * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import type { CustomFetch } from "openid-client"

/** What an identity provider may take for one response. */
export const issuerTimeoutMillis = 5_000

/** The requests of `openid-client`, over the HTTP client of the service: it follows no redirect. */
export const fetchOf =
  (client: HttpClient.HttpClient): CustomFetch =>
  (url, { body, headers, method, signal }) =>
    Effect.runPromise(
      Effect.gen(function* () {
        const request = (method === "POST" ? HttpClientRequest.post : HttpClientRequest.get)(url, { headers })
        const response = yield* client.execute(
          body === null || body === undefined
            ? request
            : HttpClientRequest.bodyText(request, String(body), headers["content-type"])
        )
        const text = yield* response.text
        return new Response(bodiless.has(response.status) ? null : text, {
          status: response.status,
          headers: response.headers
        })
      }).pipe(Effect.timeout(issuerTimeoutMillis)),
      signal === undefined ? {} : { signal }
    )

const bodiless: ReadonlySet<number> = new Set([204, 205, 304])
