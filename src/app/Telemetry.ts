import * as OtlpMetrics from "@effect/opentelemetry/OtlpMetrics"
import * as OtlpSerialization from "@effect/opentelemetry/OtlpSerialization"
import * as OtlpTracer from "@effect/opentelemetry/OtlpTracer"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { whyOf } from "../domain/RootCause.ts"
import { version } from "../domain/Version.ts"
import { collectAll } from "../observe/Collection.ts"

export interface TelemetryOptions {
  /** Without a slash at its end. */
  readonly endpoint: string
  readonly headers: ReadonlyArray<readonly [name: string, value: Redacted.Redacted]>
  readonly serviceName: string
  /** Tells the processes of one service apart. */
  readonly instanceId: string
}

const exportInterval = "5 seconds"
/** OpenTelemetry's default. Without one every export to a collector that does not answer would be kept for minutes. */
const responseTimeout = "10 seconds"
/** What is left at the end of the process is sent within this time, or not at all. */
const shutdownTimeout = "3 seconds"

/**
 * Sends spans and metrics to an OpenTelemetry collector, as OTLP in JSON over HTTP. A collector that does not answer delays nothing: what
 * it misses is dropped, and the log says so once, and once when it is back.
 */
export const layer = (options: TelemetryOptions): Layer.Layer<never, never, HttpClient.HttpClient> => {
  const resource = {
    serviceName: options.serviceName,
    serviceVersion: version,
    attributes: { "service.instance.id": options.instanceId }
  }
  const headers = Object.fromEntries(options.headers.map(([name, value]) => [name, Redacted.value(value)]))
  const shared = { resource, headers, exportInterval, shutdownTimeout } as const
  return Layer.mergeAll(
    Layer.scopedDiscard(collecting),
    OtlpTracer.layer({ ...shared, url: `${options.endpoint}/v1/traces` }),
    OtlpMetrics.layer({ ...shared, url: `${options.endpoint}/v1/metrics` })
  ).pipe(Layer.provide(OtlpSerialization.layerJson), Layer.provide(reporting))
}

/** Gauges that are read only on demand are read as often as they are sent. */
const collecting = Effect.forkScoped(Effect.repeat(Effect.sync(collectAll), Schedule.spaced(exportInterval)))

/** The client that exports, whose failures the log tells of: the exporter itself keeps them to its debug log. */
const reporting = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, (client) => {
    let isFailing = false
    const failed = (reason: string): Effect.Effect<void> => {
      if (isFailing) return Effect.void
      isFailing = true
      return Effect.annotateLogs(Effect.logWarning("telemetry is not exported"), { reason })
    }
    const succeeded = Effect.suspend(() => {
      if (!isFailing) return Effect.void
      isFailing = false
      return Effect.logInfo("telemetry is exported again")
    })
    return HttpClient.transform(client, (response, request) =>
      response.pipe(
        Effect.timeoutFail({
          duration: responseTimeout,
          onTimeout: () =>
            new HttpClientError.RequestError({
              request,
              reason: "Transport",
              cause: new Error(`no response within ${responseTimeout}`)
            })
        }),
        Effect.tapError((error) => failed(whyOf(error))),
        Effect.tap(({ status }) => (status < 300 ? succeeded : failed(`HTTP ${status}`)))
      )
    )
  })
)
