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
  .annotate(OpenApi.Summary, "Get the spend alerts of a project")
  .annotate(OpenApi.Description, "The thresholds, the webhook, and the events.")

const setAlerts = HttpApiEndpoint.put("setAlerts", "/api/projects/:id/alerts")
  .setPath(ProjectPath)
  .setHeaders(IfMatchHeaders)
  .setPayload(UpdateAlertsRequest)
  .addSuccess(AlertsOut)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.VersionMismatch)
  .addError(Errors.SealingUnavailable)
  .annotate(OpenApi.Summary, "Set the spend thresholds and the webhook of a project")
  .annotate(
    OpenApi.Description,
    "Requires the member role. Each threshold is notified once per period: the URL receives a POST within about 20 s, retried up to 7 times within a day until it responds with a 2xx status within 5 s. An event may be delivered more than once, with the same `webhook-id`. Redirects are not followed."
  )

export const AlertsGroup = HttpApiGroup.make("alerts")
  .add(getAlerts)
  .add(setAlerts)
  .middleware(Identity)
  .annotate(OpenApi.Description, "Spend alerts, delivered to a webhook.")
