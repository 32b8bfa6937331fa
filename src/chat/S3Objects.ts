import { createHash } from "node:crypto"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { StoreUnavailable } from "../domain/GatewayError.ts"
import { whyOf } from "../domain/RootCause.ts"
import { Timers } from "../domain/Timers.ts"
import { awsSignature } from "../provider/transport/AwsSignature.ts"
import { Objects, type ObjectsShape } from "./Objects.ts"

/** A bucket of S3, or of a store that is compatible with it. */
export interface S3Options {
  /** Without a slash at its end; the bucket is a part of the path. */
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  readonly accessKeyId: Redacted.Redacted
  readonly secretAccessKey: Redacted.Redacted
}

/** Why the store has not done what it was asked. */
export class S3Failed extends Data.TaggedError("S3Failed")<{
  readonly operation: Method
  /** `null`: it has not answered. */
  readonly status: number | null
  /** Of its answer, such as `NoSuchBucket`. */
  readonly code: string | null
  /** Why there is no answer, such as a refused connection; `null`: there is one. */
  readonly detail: string | null
}> {
  override get message(): string {
    const answer = this.status === null ? "no answer" : [this.status, this.code ?? ""].join(" ").trim()
    return `${this.operation} at the object store: ${answer}`
  }
  /** The same may succeed shortly. */
  get isPassing(): boolean {
    return this.status === null || this.status >= 500 || this.status === 429
  }
}

/** Objects in a bucket, which several nodes share. At start one is written, read and removed; the log says what fails. */
export const layer = (options: S3Options): Layer.Layer<Objects, never, HttpClient.HttpClient | Timers> =>
  Layer.scoped(Objects, make(options))

type Method = "GET" | "PUT" | "DELETE"

interface Answer {
  readonly status: number
  readonly bytes: Uint8Array
}

/** An image has 10 MiB at most. */
const timeoutMillis = 15_000
const maxRetries = 2
const retryMillis = 100
const noBytes = new Uint8Array()

const make = (options: S3Options): Effect.Effect<ObjectsShape, never, HttpClient.HttpClient | Scope.Scope | Timers> =>
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const timers = yield* Timers
    const { origin, pathname } = new URL(options.endpoint)
    const base = `${pathname.replace(/\/$/, "")}/${options.bucket}`
    const { headers: sign } = awsSignature(
      { ...options, sessionToken: null },
      { region: options.region, service: "s3" }
    )

    const ask = (method: Method, id: string, body: Uint8Array = noBytes): Effect.Effect<Answer, S3Failed> =>
      Effect.suspend(() => {
        const path = `${base}/images/${id}`
        const headers = {
          "x-amz-content-sha256": createHash("sha256").update(body).digest("hex"),
          ...(method === "PUT" ? { "content-type": contentType } : {})
        }
        const signed = { ...headers, ...sign({ method, origin, path, headers, body: "" }, timers.now()) }
        const request = HttpClientRequest.make(method)(`${origin}${path}`, { headers: signed })
        const sent = method === "PUT" ? HttpClientRequest.bodyUint8Array(request, body, contentType) : request
        return Effect.flatMap(client.execute(sent), ({ arrayBuffer, status }) =>
          Effect.map(arrayBuffer, (bytes) => ({ status, bytes: new Uint8Array(bytes) }))
        ).pipe(
          Effect.scoped,
          Effect.timeout(timeoutMillis),
          Effect.mapError(
            (cause) => new S3Failed({ operation: method, status: null, code: null, detail: whyOf(cause) })
          ),
          Effect.filterOrFail(
            ({ bytes, status }) =>
              (status >= 200 && status < 300) || (method !== "PUT" && codeOf(status, bytes) === "NoSuchKey"),
            ({ bytes, status }) =>
              new S3Failed({ operation: method, status, code: codeOf(status, bytes), detail: null })
          )
        )
      }).pipe(
        Effect.retry({
          times: maxRetries,
          schedule: Schedule.exponential(retryMillis),
          while: ({ isPassing }) => isPassing
        })
      )

    const put = (id: string, bytes: Uint8Array) => ask("PUT", id, bytes)
    const get = (id: string) =>
      Effect.map(ask("GET", id), ({ bytes, status }) => (status === notFound ? undefined : bytes))
    const remove = (id: string) => ask("DELETE", id)

    yield* Effect.forkScoped(
      put(probe, probeBytes).pipe(
        Effect.zipRight(get(probe)),
        Effect.zipRight(remove(probe)),
        Effect.catchAll(({ code, detail, operation, status }) =>
          Effect.annotateLogs(
            Effect.logWarning(
              status === null
                ? "the object store is not reachable"
                : "the object store refuses its credential or bucket"
            ),
            { operation, status, code, detail, bucket: options.bucket }
          )
        )
      )
    )
    return {
      put: (id, bytes) => Effect.asVoid(stored(put(id, bytes))),
      get: (id) => stored(get(id)),
      remove: (id) => Effect.asVoid(stored(remove(id)))
    }
  })

const contentType = "application/octet-stream"
const notFound = 404
const probe = "start"
const probeBytes = new Uint8Array(1)

const stored = <A>(asked: Effect.Effect<A, S3Failed>): Effect.Effect<A, StoreUnavailable> =>
  Effect.mapError(asked, (cause) => new StoreUnavailable({ cause, store: "images" }))

/** A store that says nothing of a missing object still says 404. */
const codeOf = (status: number, bytes: Uint8Array): string | null =>
  /<Code>([A-Za-z0-9]{1,60})<\/Code>/.exec(Buffer.from(bytes.subarray(0, maxErrorBytes)).toString())?.[1] ??
  (status === notFound ? "NoSuchKey" : null)
const maxErrorBytes = 4096
