import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { CallStatus } from "../../../domain/Call.ts"
import { KeyId } from "../../../domain/Ids.ts"
import { PageParameters, pageOf, pageParameters } from "../../../wire/account/Page.ts"
import { RefusalOut } from "../../../wire/account/Refusals.ts"
import { RequestOut } from "../../../wire/account/Requests.ts"
import { sentId, sentRequestId } from "../../../wire/account/SentId.ts"
import { sentTimestamp } from "../../../wire/account/Times.ts"
import { storedText } from "../../../wire/validation/SchemaParts.ts"
import * as Errors from "../DeclaredErrors.ts"
import { Identity } from "../Identity.ts"
import { ProjectPath } from "../ProjectPath.ts"

const Id = storedText(300)
const Search = storedText(200)

const RequestsPage = pageOf("RequestsPage", RequestOut)

const listRequests = HttpApiEndpoint.get("listRequests", "/api/projects/:id/requests")
  .setPath(ProjectPath)
  .setUrlParams(
    Schema.Struct({
      ...pageParameters("requests"),
      status: Schema.optional(CallStatus).annotations({ description: "Only calls of this status." }),
      model: Schema.optional(Id.annotations({ description: "Only calls of the model with this id." })),
      provider: Schema.optional(Id.annotations({ description: "Only calls of the provider with this id." })),
      key: Schema.optional(sentId(KeyId, "Only calls with the project key of this id.")),
      q: Schema.optional(
        Search.annotations({
          description:
            "Only calls with this text in their id, the client's request id, the requested model, the model or the error code; case-insensitive. The `id` of a response's body (`chatcmpl-…`) is an id too. At most 200 characters."
        })
      ),
      from: Schema.optional(sentTimestamp("Only calls that ended at this time or later; RFC 3339.")),
      to: Schema.optional(sentTimestamp("Only calls that ended before this time; RFC 3339."))
    })
  )
  .addSuccess(RequestsPage)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "List the calls of a project, with their attempts")
  .annotate(
    OpenApi.Description,
    "Ordered by end, newest first. With a filter that few calls match, a page may have fewer items than `limit`, or none, while `has_more` is true: the list then continues after `next_cursor`. With `Accept: text/csv` or `application/x-ndjson` the response contains all calls that match the filter, without paging; if the response ends prematurely, the export is incomplete. `x-exports` has the schema of each line. Text that a spreadsheet would run as a formula is prefixed with an apostrophe in the CSV."
  )

const getRequest = HttpApiEndpoint.get("getRequest", "/api/requests/:id")
  .setPath(
    Schema.Struct({
      id: sentRequestId("`x-request-id` of the response, or the `id` of its body (`chatcmpl-…`, `resp_…`, `msg_…`).")
    })
  )
  .addSuccess(RequestOut)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "Get a call with its attempts")

const listRefusals = HttpApiEndpoint.get("listRefusals", "/api/projects/:id/refusals")
  .setPath(ProjectPath)
  .setUrlParams(PageParameters("refusals"))
  .addSuccess(pageOf("RefusalsPage", RefusalOut))
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "List the refused requests of a project")
  .annotate(
    OpenApi.Description,
    "Requests that were refused with 402, 404 or 429 and never became a call, listed about a second later; the last 1,000. Of many at once, only the newest are recorded."
  )

export const RequestsGroup = HttpApiGroup.make("requests")
  .add(listRequests)
  .add(getRequest)
  .add(listRefusals)
  .middleware(Identity)
  .annotate(OpenApi.Description, "The request log.")
