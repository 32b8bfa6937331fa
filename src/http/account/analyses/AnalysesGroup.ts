import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import {
  AnalysesPage,
  AnalysisDetail,
  AnalysisEstimate,
  AnalysisSummary,
  CreateAnalysis
} from "../../../wire/account/Analyses.ts"
import { ActionPreview, ApplyAction } from "../../../wire/account/AnalysisActions.ts"
import { ReplayQuote, ReplayRequest } from "../../../wire/account/AnalysisEvidence.ts"
import { PageParameters } from "../../../wire/account/Page.ts"
import { sentId } from "../../../wire/account/SentId.ts"
import { matching } from "../../../wire/validation/SchemaParts.ts"
import * as Errors from "../DeclaredErrors.ts"
import { IdempotencyHeaders } from "../Idempotent.ts"
import { Identity } from "../Identity.ts"
import { ProjectPath } from "../ProjectPath.ts"

const AnalysisPath = Schema.Struct({ id: sentId(Schema.UUID, "Id of the analysis.") })
const ActionPath = Schema.Struct({
  ...AnalysisPath.fields,
  action_id: matching(/^[a-z0-9_.-]{1,100}$/, "1 to 100 characters of a-z, 0-9, '_', '.' and '-'").annotations({
    description: "Id of an action of its report."
  })
})

const estimateAnalysis = HttpApiEndpoint.post("estimateAnalysis", "/api/projects/:id/analyses/estimate")
  .setPath(ProjectPath)
  .setPayload(CreateAnalysis)
  .addSuccess(AnalysisEstimate)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .annotate(OpenApi.Summary, "Estimate an analysis")
  .annotate(OpenApi.Description, "Requires the member role. Changes nothing.")

const createAnalysis = HttpApiEndpoint.post("createAnalysis", "/api/projects/:id/analyses")
  .setPath(ProjectPath)
  .setHeaders(IdempotencyHeaders)
  .setPayload(CreateAnalysis)
  .addSuccess(AnalysisSummary, { status: 202 })
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.AlreadyExists)
  .addError(Errors.SealingUnavailable)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Create an analysis")
  .annotate(
    OpenApi.Description,
    "Finds what a project wastes. Requires the member role. Runs in the background and calls no model; one per project at a time. Without captured calls it analyses the request log."
  )

const listAnalyses = HttpApiEndpoint.get("listAnalyses", "/api/projects/:id/analyses")
  .setPath(ProjectPath)
  .setUrlParams(PageParameters("analyses"))
  .addSuccess(AnalysesPage)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "List the analyses of a project")
  .annotate(OpenApi.Description, "The newest 100 are retained.")

const getAnalysis = HttpApiEndpoint.get("getAnalysis", "/api/analyses/:id")
  .setPath(AnalysisPath)
  .addSuccess(AnalysisDetail)
  .addError(Errors.NotFound)
  .addError(Errors.SealingUnavailable)
  .annotate(OpenApi.Summary, "Get an analysis with its report")

const cancelAnalysis = HttpApiEndpoint.post("cancelAnalysis", "/api/analyses/:id/cancel")
  .setPath(AnalysisPath)
  .addSuccess(AnalysisSummary)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .annotate(OpenApi.Summary, "Cancel an analysis")
  .annotate(
    OpenApi.Description,
    "Requires the member role. The analysis ends within about a second; one that has ended remains unchanged."
  )

const replayAnalysis = HttpApiEndpoint.post("replayAnalysis", "/api/analyses/:id/replay")
  .setPath(AnalysisPath)
  .setHeaders(IdempotencyHeaders)
  .setPayload(ReplayRequest)
  .addSuccess(ReplayQuote)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.AlreadyExists)
  .addError(Errors.SealingUnavailable)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Replay captured calls with cheaper models")
  .annotate(
    OpenApi.Description,
    "Measures whether cheaper models would have answered as well. Requires the member role. Without `confirm` only returns the quote: no model is called. With it, captured calls whose content may be sent to other models are answered by other models and compared by a judge, in the background, charged to the project's balance and never beyond `max_spend_microusd`. The analysis is queued again and the outcomes are added to its report; once per analysis. Cancelling it keeps the questions that were answered."
  )

const previewAction = HttpApiEndpoint.post("previewAnalysisAction", "/api/analyses/:id/actions/:action_id/preview")
  .setPath(ActionPath)
  .addSuccess(ActionPreview)
  .addError(Errors.NotFound)
  .addError(Errors.SealingUnavailable)
  .annotate(OpenApi.Summary, "Preview an action of a report")
  .annotate(
    OpenApi.Description,
    "Nothing is written. If the action changes the project: the fields before and after, and the newest calls re-ranked under both."
  )

const applyAction = HttpApiEndpoint.post("applyAnalysisAction", "/api/analyses/:id/actions/:action_id/apply")
  .setPath(ActionPath)
  .setPayload(ApplyAction)
  .addSuccess(AnalysisDetail)
  .addError(Errors.NotFound)
  .addError(Errors.SealingUnavailable)
  .addError(Errors.RoleRequired)
  .addError(Errors.ManagedByConfiguration)
  .addError(Errors.ConfigVersionMismatch)
  .addError(Errors.AlreadyExists)
  .annotate(OpenApi.Summary, "Apply an action of a report")
  .annotate(
    OpenApi.Description,
    "Requires the member role. Writes what the preview returned, effective like any change of the policy; refused if the settings of the project have changed since the preview. A client_hint changes nothing here: it is recorded as followed. An action that is already applied remains unchanged. With a `canary`, a share of the conversations, by their hash, continues without the change; cost and guards of both are measured, and the change is reverted if the guards show harm: see the receipt of the action. One change per project at a time."
  )

const undoAction = HttpApiEndpoint.post("undoAnalysisAction", "/api/analyses/:id/actions/:action_id/undo")
  .setPath(ActionPath)
  .addSuccess(AnalysisDetail)
  .addError(Errors.NotFound)
  .addError(Errors.SealingUnavailable)
  .addError(Errors.RoleRequired)
  .addError(Errors.ManagedByConfiguration)
  .addError(Errors.ConfigVersionMismatch)
  .annotate(OpenApi.Summary, "Undo an action of a report")
  .annotate(
    OpenApi.Description,
    "Requires the member role. Restores the fields that the action changed, and ends its hold-out; refused if they have been changed since. An action that is not applied remains unchanged."
  )

export const AnalysesGroup = HttpApiGroup.make("analyses")
  .add(estimateAnalysis)
  .add(createAnalysis)
  .add(listAnalyses)
  .add(getAnalysis)
  .add(cancelAnalysis)
  .add(replayAnalysis)
  .add(previewAction)
  .add(applyAction)
  .add(undoAction)
  .middleware(Identity)
  .annotate(OpenApi.Description, "Analyses of what a project wastes, and recommended actions.")
