import type * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"

/** What is looked at of the options of a `fetch`. */
export interface FetchOptions {
  readonly method?: string | undefined
  readonly headers?: ConstructorParameters<typeof Headers>[0]
  readonly body?: unknown
  readonly signal?: AbortSignal | null | undefined
}

/** A `fetch` over the HTTP client, for libraries that take one: bodies are texts, and it follows no redirect. */
export const fetchOf =
  (client: HttpClient.HttpClient) =>
  (url: string | URL | Request, options: FetchOptions = {}): Promise<Response> => {
    const { body, method = "GET", signal } = options
    const headers = Object.fromEntries(new Headers(options.headers))
    const made = HttpClientRequest.make(method as "GET")(url instanceof Request ? url.url : url, { headers })
    const request =
      body === null || body === undefined
        ? made
        : HttpClientRequest.bodyText(made, String(body), headers["content-type"])
    const response = Effect.flatMap(client.execute(request), (received) =>
      Effect.map(
        received.text,
        (text) =>
          new Response(bodiless.has(received.status) ? null : text, {
            status: received.status,
            headers: received.headers
          })
      )
    )
    // the error itself, which says why in its cause; that of a runtime has its message alone
    return Effect.runPromiseExit(response, signal === null || signal === undefined ? {} : { signal }).then((exit) =>
      exit._tag === "Success" ? exit.value : Promise.reject(Cause.squash(exit.cause))
    )
  }

const bodiless: ReadonlySet<number> = new Set([204, 205, 304])
