import * as HttpApi from "@effect/platform/HttpApi"
import * as OpenApi from "@effect/platform/OpenApi"
import { ActivityGroup } from "./activity/ActivityGroup.ts"
import { AdminGroup } from "./admin/AdminGroup.ts"
import { AlertsGroup } from "./alerts/AlertsGroup.ts"
import { AnalysesGroup } from "./analyses/AnalysesGroup.ts"
import { AuditGroup } from "./audit/AuditGroup.ts"
import { BillingGroup } from "./billing/BillingGroup.ts"
import { CaptureGroup } from "./capture/CaptureGroup.ts"
import { ChatGroup } from "./chat/ChatGroup.ts"
import { CredentialsGroup } from "./credentials/CredentialsGroup.ts"
import { KeysGroup } from "./keys/KeysGroup.ts"
import { MembersGroup } from "./members/MembersGroup.ts"
import { OidcGroup } from "./oidc/OidcGroup.ts"
import { PaymentsGroup } from "./payments/PaymentsGroup.ts"
import { PolicyGroup } from "./policy/PolicyGroup.ts"
import { ProjectsGroup } from "./projects/ProjectsGroup.ts"
import { RequestsGroup } from "./requests/RequestsGroup.ts"
import { RoutingGroup } from "./routing/RoutingGroup.ts"
import { SessionGroup } from "./session/SessionGroup.ts"

/**
 * The declaration of the account API: its endpoints, records and errors. The handlers are bound to it, the OpenAPI document and
 * the typed client are made of it.
 */
export const AccountApi = HttpApi.make("account")
  .add(SessionGroup)
  .add(OidcGroup)
  .add(ProjectsGroup)
  .add(KeysGroup)
  .add(PolicyGroup)
  .add(RoutingGroup)
  .add(MembersGroup)
  .add(AuditGroup)
  .add(AdminGroup)
  .add(ActivityGroup)
  .add(RequestsGroup)
  .add(BillingGroup)
  .add(CredentialsGroup)
  .add(PaymentsGroup)
  .add(AlertsGroup)
  .add(CaptureGroup)
  .add(AnalysesGroup)
  .add(ChatGroup)
  .annotate(OpenApi.Title, "Account API of the model routing gateway")
