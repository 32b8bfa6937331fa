import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { ReportPace } from "../../../account/pace/ReportPace.ts"
import { RefusalStore } from "../../../account/requests/RefusalStore.ts"
import { findEnded, RequestLog } from "../../../account/requests/RequestLog.ts"
import { NotFound } from "../../../domain/AccountError.ts"
import { CurrentUser } from "../../../domain/CurrentUser.ts"
import { ProjectId } from "../../../domain/Ids.ts"
import { ProjectAccess } from "../../../identity/projects/ProjectAccess.ts"
import { Ledger } from "../../../ledger/Ledger.ts"
import { cursorOf, type ListName, type Page } from "../../../wire/account/Page.ts"
import { csvHeader, csvLine, ndjsonLine } from "../../../wire/account/RequestExport.ts"
import type { RequestOut } from "../../../wire/account/Requests.ts"
import { resetWhenBroken } from "../../server/BrokenBody.ts"
import { AccountApi } from "../AccountApi.ts"
import { rightsLost } from "../RightsLost.ts"

export const requestsHandlers = HttpApiBuilder.group(AccountApi, "requests", (handlers) =>
  Effect.gen(function* () {
    const access = yield* ProjectAccess
    const log = yield* RequestLog
    const ledger = yield* Ledger
    const refusals = yield* RefusalStore
    const pace = yield* ReportPace
    return handlers
      .handleRaw("listRequests", ({ path, request, urlParams: { cursor, limit, ...filter } }) =>
        Effect.gen(function* () {
          const { id } = yield* access.find(path.id)
          const user = yield* CurrentUser
          const format = exportFormat(request.headers["accept"])
          return format === undefined
            ? pageOut("requests", yield* pace.run(user.userId, log.page(id, filter, cursor ?? null, limit)))
            : exported(
                request,
                format,
                Stream.provideService(
                  Stream.interruptWhen(log.all(id, filter), rightsLost(request, access.find(id))),
                  CurrentUser,
                  user
                )
              )
        })
      )
      .handle("getRequest", ({ path }) =>
        Effect.gen(function* () {
          const found = yield* findEnded(log, ledger.flushed, path.id)
          if (Option.isNone(found)) return yield* noSuchRequest
          // a call of another tenant is as unknown as one that never was
          yield* Effect.catchTag(access.find(ProjectId.make(found.value.project_id)), "NotFound", () => noSuchRequest)
          return found.value
        })
      )
      .handle("listRefusals", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const { id } = yield* access.find(path.id)
          return pageOut("refusals", yield* refusals.page(id, urlParams.cursor ?? null, urlParams.limit))
        })
      )
  })
)

const noSuchRequest = new NotFound({ message: "Request not found." })

const pageOut = <A>(
  list: ListName,
  { items, next }: { readonly items: ReadonlyArray<A>; readonly next: string | null }
): Page<A> => ({
  items,
  has_more: next !== null,
  next_cursor: next === null ? null : cursorOf(list, next)
})

interface ExportFormat {
  readonly contentType: string
  readonly name: string
  readonly header: string
  readonly line: (request: RequestOut) => string
}

const formats: ReadonlyMap<string, ExportFormat> = new Map([
  ["text/csv", { contentType: "text/csv; charset=utf-8", name: "requests.csv", header: csvHeader, line: csvLine }],
  [
    "application/x-ndjson",
    { contentType: "application/x-ndjson", name: "requests.ndjson", header: "", line: ndjsonLine }
  ]
])

/** Of the first media type that has one; JSON, and whatever else is accepted, is a page. */
const exportFormat = (accept: string | undefined): ExportFormat | undefined => {
  const [first] = accept?.split(",") ?? []
  return formats.get(first?.split(";")[0]?.trim().toLowerCase() ?? "")
}

const encoder = new TextEncoder()

/** Rows are read as fast as the client reads them. */
const exported = <E>(
  request: HttpServerRequest.HttpServerRequest,
  { contentType, header, line, name }: ExportFormat,
  requests: Stream.Stream<RequestOut, E>
) => {
  const text = Stream.concat(
    Stream.make(header),
    Stream.mapChunks(requests, (chunk) => Chunk.of(Chunk.toReadonlyArray(chunk).map(line).join("")))
  ).pipe(
    Stream.filter((lines) => lines !== ""),
    Stream.map((lines) => encoder.encode(lines)),
    resetWhenBroken(request)
  )
  return HttpServerResponse.stream(text, {
    contentType,
    headers: { "content-disposition": `attachment; filename="${name}"` }
  })
}
