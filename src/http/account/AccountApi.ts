import * as HttpApi from "@effect/platform/HttpApi"
import * as OpenApi from "@effect/platform/OpenApi"
import { ActivityGroup } from "./activity/ActivityGroup.ts"
import { AlertsGroup } from "./alerts/AlertsGroup.ts"
import { ProjectsGroup } from "./projects/ProjectsGroup.ts"
import { RequestsGroup } from "./requests/RequestsGroup.ts"
import { SessionGroup } from "./session/SessionGroup.ts"

/**
 * The declaration of the account API: its endpoints, records and errors. The handlers are bound to it, the OpenAPI document and
 * the typed client are made of it.
 */
export const AccountApi = HttpApi.make("account")
  .add(SessionGroup)
  .add(ProjectsGroup)
  .add(ActivityGroup)
  .add(RequestsGroup)
  .add(AlertsGroup)
  .annotate(OpenApi.Title, "Account API of the model routing gateway")
