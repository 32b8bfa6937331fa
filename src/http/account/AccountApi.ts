import * as HttpApi from "@effect/platform/HttpApi"
import * as OpenApi from "@effect/platform/OpenApi"
import { ActivityGroup } from "./activity/ActivityGroup.ts"
import { AdminGroup } from "./admin/AdminGroup.ts"
import { AuditGroup } from "./audit/AuditGroup.ts"
import { MembersGroup } from "./members/MembersGroup.ts"
import { OidcGroup } from "./oidc/OidcGroup.ts"
import { ProjectsGroup } from "./projects/ProjectsGroup.ts"
import { RequestsGroup } from "./requests/RequestsGroup.ts"
import { SessionGroup } from "./session/SessionGroup.ts"

/**
 * The declaration of the account API: its endpoints, records and errors. The handlers are bound to it, the OpenAPI document and
 * the typed client are made of it.
 */
export const AccountApi = HttpApi.make("account")
  .add(SessionGroup)
  .add(OidcGroup)
  .add(ProjectsGroup)
  .add(MembersGroup)
  .add(AuditGroup)
  .add(AdminGroup)
  .add(ActivityGroup)
  .add(RequestsGroup)
  .annotate(OpenApi.Title, "Account API of the model routing gateway")
