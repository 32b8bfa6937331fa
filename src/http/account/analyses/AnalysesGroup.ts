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
import * as Errors from "../DeclaredErrors.ts"
import { IdempotencyHeaders } from "../Idempotent.ts"
import { Identity } from "../Identity.ts"
import { ProjectPath } from "../ProjectPath.ts"

const AnalysisPath = Schema.Struct({ id: sentId(Schema.UUID, "Id of the analysis.") })
const ActionPath = Schema.Struct({
  id: sentId(Schema.UUID, "Id of the analysis."),
  action_id: Schema.String.pipe(Schema.pattern(/^[a-z0-9_.-]{1,100}$/)).annotations({
    description: "Id of an action of its report."
  })
})

const estimateAnalysis = HttpApiEndpoint.post("estimateAnalysis", "/api/projects/:id/analyses/estimate")
  .setPath(ProjectPath)
  .setPayload(CreateAnalysis)
  .addSuccess(AnalysisEstimate)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .annotate(OpenApi.Summary, "What an analysis would read")
  .annotate(OpenApi.Description, "For members. Changes nothing.")

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
  .annotate(OpenApi.Summary, "Find what a project wastes")
  .annotate(
    OpenApi.Description,
    "For members. Runs in the background and calls no model; one of a project at a time. Without captured calls it reads the log of calls."
  )

const listAnalyses = HttpApiEndpoint.get("listAnalyses", "/api/projects/:id/analyses")
  .setPath(ProjectPath)
  .setUrlParams(PageParameters)
  .addSuccess(AnalysesPage)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "List the analyses of a project")
  .annotate(OpenApi.Description, "The newest 100 are kept.")

const getAnalysis = HttpApiEndpoint.get("getAnalysis", "/api/analyses/:id")
  .setPath(AnalysisPath)
  .addSuccess(AnalysisDetail)
  .addError(Errors.NotFound)
  .addError(Errors.SealingUnavailable)
  .annotate(OpenApi.Summary, "One analysis with its report")

const cancelAnalysis = HttpApiEndpoint.post("cancelAnalysis", "/api/analyses/:id/cancel")
  .setPath(AnalysisPath)
  .addSuccess(AnalysisSummary)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .annotate(OpenApi.Summary, "Stop an analysis")
  .annotate(OpenApi.Description, "For members. It ends within about a second; one that has ended stays as it is.")

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
  .annotate(OpenApi.Summary, "Ask whether cheaper models would have answered as well")
  .annotate(
    OpenApi.Description,
    "For members. Without `confirm` only the quote: nothing is called. With it, captured calls whose content may be sent to other models are answered once more by other models and compared by a judge, in the background, on the project's balance and never beyond `max_spend_microusd`. The analysis is queued again, its report keeps what it says and gains the outcomes; once for an analysis. Cancelling it keeps the questions that are answered."
  )

const previewAction = HttpApiEndpoint.post("previewAnalysisAction", "/api/analyses/:id/actions/:action_id/preview")
  .setPath(ActionPath)
  .addSuccess(ActionPreview)
  .addError(Errors.NotFound)
  .addError(Errors.SealingUnavailable)
  .annotate(OpenApi.Summary, "What an action would change")
  .annotate(
    OpenApi.Description,
    "Nothing is written. Where the action changes the project: the fields before and after, and the newest calls ranked once more under both."
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
    "For members. Writes what the preview has shown, in force as any change of the policy; refused when the settings of the project were changed since the preview. A client_hint changes nothing here: that it was followed is noted. One that is applied already stays as it is. With a `canary`, a share of the conversations, by their hash, goes on without the change; cost and guards of both are measured, and the change is taken back where the guards show harm: the receipt of the action tells. One change of a project at a time."
  )

const undoAction = HttpApiEndpoint.post("undoAnalysisAction", "/api/analyses/:id/actions/:action_id/undo")
  .setPath(ActionPath)
  .addSuccess(AnalysisDetail)
  .addError(Errors.NotFound)
  .addError(Errors.SealingUnavailable)
  .addError(Errors.RoleRequired)
  .addError(Errors.ManagedByConfiguration)
  .addError(Errors.ConfigVersionMismatch)
  .annotate(OpenApi.Summary, "Take an action back")
  .annotate(
    OpenApi.Description,
    "For members. Restores the fields that the action has changed, and ends its hold-out; refused when somebody has changed them since. One that is not applied stays as it is."
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
  .annotate(OpenApi.Description, "What a project wastes, and what to do about it.")
