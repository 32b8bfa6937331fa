import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { AuditPage } from "../../../wire/account/Audit.ts"
import { PageParameters } from "../../../wire/account/Page.ts"
import { Identity } from "../Identity.ts"

const listAuditRows = HttpApiEndpoint.get("listAuditRows", "/api/audit")
  .setUrlParams(PageParameters("audit"))
  .addSuccess(AuditPage)
  .annotate(OpenApi.Summary, "List the audit log of the caller's account")
  .annotate(
    OpenApi.Description,
    "Each row has a hash that covers the previous row; `npm run audit:verify` verifies the log of every account."
  )

export const AuditGroup = HttpApiGroup.make("audit")
  .add(listAuditRows)
  .middleware(Identity)
  .annotate(OpenApi.Description, "The log of all changes made through this API.")
