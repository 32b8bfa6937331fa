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
import { PageParameters } from "../../../wire/account/Page.ts"
import * as Errors from "../DeclaredErrors.ts"
import { IdempotencyHeaders } from "../Idempotent.ts"
import { Identity } from "../Identity.ts"
import { ProjectPath } from "../ProjectPath.ts"

const AnalysisPath = Schema.Struct({ id: Schema.UUID.annotations({ description: "Id of the analysis." }) })
const ActionPath = Schema.Struct({
  id: Schema.UUID.annotations({ description: "Id of the analysis." }),
  action_id: Schema.String.pipe(Schema.pattern(/^[a-z0-9_]{1,64}$/)).annotations({
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
  .annotate(OpenApi.Summary, "One analysis with its report")

const cancelAnalysis = HttpApiEndpoint.post("cancelAnalysis", "/api/analyses/:id/cancel")
  .setPath(AnalysisPath)
  .addSuccess(AnalysisSummary)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .annotate(OpenApi.Summary, "Stop an analysis")
  .annotate(OpenApi.Description, "For members. It ends within about a second; one that has ended stays as it is.")

const applyAction = HttpApiEndpoint.post("applyAnalysisAction", "/api/analyses/:id/actions/:action_id/apply")
  .setPath(ActionPath)
  .addSuccess(AnalysisDetail)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .annotate(OpenApi.Summary, "Note that an action was followed")
  .annotate(
    OpenApi.Description,
    "For members. The actions of a report are changes of the application: the gateway changes nothing."
  )

const undoAction = HttpApiEndpoint.post("undoAnalysisAction", "/api/analyses/:id/actions/:action_id/undo")
  .setPath(ActionPath)
  .addSuccess(AnalysisDetail)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .annotate(OpenApi.Summary, "Note that an action was taken back")
  .annotate(OpenApi.Description, "For members.")

export const AnalysesGroup = HttpApiGroup.make("analyses")
  .add(estimateAnalysis)
  .add(createAnalysis)
  .add(listAnalyses)
  .add(getAnalysis)
  .add(cancelAnalysis)
  .add(applyAction)
  .add(undoAction)
  .middleware(Identity)
  .annotate(OpenApi.Description, "What a project wastes, and what to do about it.")
