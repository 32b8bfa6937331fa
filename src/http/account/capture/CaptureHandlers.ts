import { createHash } from "node:crypto"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type Collection, ProjectCollection } from "../../../account/capture/ProjectCollection.ts"
import { ProjectSamples } from "../../../account/capture/ProjectSamples.ts"
import { sampleRecord } from "../../../account/capture/SampleRecord.ts"
import { defaultContentWarning, type CaptureSettings as Settings } from "../../../capture/CaptureWindow.ts"
import type { Erasure } from "../../../capture/Erasure.ts"
import type { CapturedCall } from "../../../domain/CapturedCall.ts"
import { CurrentUser } from "../../../domain/CurrentUser.ts"
import { RequestId } from "../../../domain/Ids.ts"
import { ProjectAccess } from "../../../identity/projects/ProjectAccess.ts"
import {
  CaptureExportEnd,
  CaptureSample,
  type CaptureSettings,
  type EraseCaptureRequest,
  type UpdateCaptureSettings
} from "../../../wire/account/Capture.ts"
import { resetWhenBroken } from "../../server/BrokenBody.ts"
import { AccountApi } from "../AccountApi.ts"
import { entityTag, requireMatch } from "../EntityTag.ts"
import { withHeader } from "../Idempotent.ts"
import { page } from "../Paging.ts"
import { rightsLost } from "../RightsLost.ts"

export const captureHandlers = HttpApiBuilder.group(AccountApi, "capture", (handlers) =>
  Effect.gen(function* () {
    const collection = yield* ProjectCollection
    const samples = yield* ProjectSamples
    const access = yield* ProjectAccess
    return handlers
      .handle("getCapture", ({ path }) => Effect.flatMap(collection.read(path.id), sent))
      .handle("putCapture", ({ headers, path, payload }) =>
        Effect.flatMap(
          collection.update(path.id, settingsOf(payload), payload.config_version, (current) =>
            requireMatch(headers["if-match"], entityTag([current]))
          ),
          sent
        )
      )
      .handle("listCaptureSamples", ({ path, urlParams }) =>
        page(
          "samples",
          urlParams,
          (id) => RequestId.make(id),
          (max, before) => samples.list(path.id, max, before),
          ({ call }) => sampleRecord(call)
        )
      )
      .handleRaw("exportCapture", ({ path, request }) =>
        Effect.gen(function* () {
          const user = yield* CurrentUser
          const calls = yield* samples.exported(path.id)
          const readable = Stream.interruptWhen(calls, rightsLost(request, access.require(path.id, "member")))
          return exported(request, Stream.provideService(readable, CurrentUser, user))
        })
      )
      .handle("eraseCapture", ({ path, payload }) =>
        Effect.map(samples.erase(path.id, erasureOf(payload)), (erased) => ({ erased }))
      )
      .handle("getCaptureSample", ({ path }) => Effect.map(samples.read(path.id), sampleRecord))
      .handle("deleteCaptureSample", ({ path }) => samples.remove(path.id))
  })
)

const settingsOf = (payload: UpdateCaptureSettings): Settings => ({
  enabled: payload.enabled,
  samplingRate: payload.sampling_rate,
  retentionDays: payload.retention_days,
  maxSamples: payload.max_samples,
  content: payload.content,
  replayAllowed: payload.replay_allowed,
  contentWarning: payload.content_warning ?? defaultContentWarning
})

const settingsOut = ({ configVersion, samples, settings }: Collection): CaptureSettings => ({
  enabled: settings.enabled,
  sampling_rate: settings.samplingRate,
  config_version: configVersion,
  retention_days: settings.retentionDays,
  max_samples: settings.maxSamples,
  content_warning: settings.contentWarning,
  content: settings.content,
  replay_allowed: settings.replayAllowed,
  samples_stored: samples
})

const sent = (collection: Collection) =>
  Effect.as(withHeader("etag", entityTag([collection.configVersion])), settingsOut(collection))

const erasureOf = (request: EraseCaptureRequest): Erasure => {
  switch (request.target) {
    case "key":
      return { _tag: "Key", keyId: request.key_id }
    case "end_user":
      return { _tag: "EndUser", user: request.end_user }
    case "conversation":
      return { _tag: "Conversation", conversation: request.conversation }
    case "project":
      return { _tag: "Project" }
  }
}

const encodeSample = Schema.encodeSync(CaptureSample)
const encodeEnd = Schema.encodeSync(CaptureExportEnd)
const encoder = new TextEncoder()

/** Samples are read as fast as the client reads them. */
const exported = <E>(request: HttpServerRequest.HttpServerRequest, calls: Stream.Stream<CapturedCall, E>) => {
  const hash = createHash("sha256")
  let count = 0
  const lines = Stream.map(calls, (call) => {
    const line = `${JSON.stringify(encodeSample(sampleRecord(call)))}\n`
    hash.update(line)
    count += 1
    return line
  })
  const end = Stream.suspend(() => Stream.make(`${encodeEnd({ count, sha256: hash.digest("hex") })}\n`))
  const body = Stream.concat(lines, end).pipe(
    Stream.map((line) => encoder.encode(line)),
    resetWhenBroken(request)
  )
  return HttpServerResponse.stream(body, {
    contentType: "application/x-ndjson",
    headers: { "content-disposition": 'attachment; filename="samples.ndjson"' }
  })
}
