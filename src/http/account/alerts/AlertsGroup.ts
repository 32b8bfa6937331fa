import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { AlertsOut, UpdateAlertsRequest } from "../../../wire/account/Alerts.ts"
import * as Errors from "../DeclaredErrors.ts"
import { IfMatchHeaders } from "../EntityTag.ts"
import { Identity } from "../Identity.ts"
import { ProjectPath } from "../ProjectPath.ts"

const getAlerts = HttpApiEndpoint.get("getAlerts", "/api/projects/:id/alerts")
  .setPath(ProjectPath)
  .addSuccess(AlertsOut)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "When a project is told what it has spent")
  .annotate(OpenApi.Description, "The thresholds, where they are told, and what was reached.")

const setAlerts = HttpApiEndpoint.put("setAlerts", "/api/projects/:id/alerts")
  .setPath(ProjectPath)
  .setHeaders(IfMatchHeaders)
  .setPayload(UpdateAlertsRequest)
  .addSuccess(AlertsOut)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.VersionMismatch)
  .addError(Errors.SealingUnavailable)
  .annotate(OpenApi.Summary, "Set the thresholds of spend and the webhook of a project")
  .annotate(
    OpenApi.Description,
    "For members. Each threshold is told once in its period: the URL gets a POST within about 20 s, and again up to 7 times within a day until it answers with a 2xx status in 5 s. It may get an event more than once; `webhook-id` tells. Redirects are not followed."
  )

export const AlertsGroup = HttpApiGroup.make("alerts")
  .add(getAlerts)
  .add(setAlerts)
  .middleware(Identity)
  .annotate(OpenApi.Description, "Thresholds of spend, told to a webhook.")
