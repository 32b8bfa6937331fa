import createClient, { type Middleware } from "openapi-fetch"
import { addCall } from "./calls.ts"
import { ApiFailure, failureOf, unreachable } from "./failure.ts"
import type { components, paths } from "./schema.d.ts"
import { pageToken, sessionEnded } from "./session.ts"

export type Records = components["schemas"]

const sent = new WeakMap<Request, { readonly at: number; readonly body: string | null }>()

const middleware: Middleware = {
  onRequest: async ({ request }) => {
    const token = pageToken()
    if (token !== null) request.headers.set("x-csrf-token", token)
    const body = request.method === "GET" ? null : await request.clone().text()
    sent.set(request, { at: performance.now(), body: body === "" ? null : body })
    return request
  },
  onResponse: ({ request, response }) => {
    const { at = performance.now(), body = null } = sent.get(request) ?? {}
    addCall({
      method: request.method,
      url: request.url,
      body,
      status: response.status,
      millis: Math.round(performance.now() - at),
      requestId: response.headers.get("x-request-id")
    })
    // signing in has no session yet: its 401 means that the code is wrong
    if (response.status === 401 && !(request.method === "POST" && request.url.endsWith("/api/session"))) {
      sessionEnded(request.headers.get("x-csrf-token"))
    }
    return undefined
  }
}

/** The account API, typed by its own document. */
export const client = createClient<paths>({ baseUrl: location.origin })
client.use(middleware)

interface Answer<Data> {
  readonly data?: Data
  readonly error?: unknown
  readonly response: Response
}

/** The record of an answer; every other end is an `ApiFailure`. */
export const take = async <Data>(asked: Promise<Answer<Data>>): Promise<Data> => {
  const { data } = await takeWithTag(asked)
  return data
}

/** The record with its `ETag`, which a later change sends as `If-Match`. */
export interface Tagged<Data> {
  readonly data: Data
  readonly tag: string | null
}

export const takeWithTag = async <Data>(asked: Promise<Answer<Data>>): Promise<Tagged<Data>> => {
  let answer: Answer<Data>
  try {
    answer = await asked
  } catch (thrown) {
    if (thrown instanceof DOMException && thrown.name === "AbortError") throw thrown
    throw thrown instanceof ApiFailure ? thrown : unreachable()
  }
  if (!answer.response.ok) throw failureOf(answer.response, answer.error)
  // a response without content has no record, and its type says so
  return { data: answer.data as Data, tag: answer.response.headers.get("etag") }
}

/** For a POST that creates or moves money: the same form, sent twice, acts once. Over plain http there is no `randomUUID`. */
export const newIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")
