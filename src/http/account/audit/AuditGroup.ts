import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { AuditPage } from "../../../wire/account/Audit.ts"
import { PageParameters } from "../../../wire/account/Page.ts"
import { Identity } from "../Identity.ts"

const listAuditRows = HttpApiEndpoint.get("listAuditRows", "/api/audit")
  .setUrlParams(PageParameters)
  .addSuccess(AuditPage)
  .annotate(OpenApi.Summary, "List all changes in the own account")
  .annotate(
    OpenApi.Description,
    "Each row has a hash that covers the row before it; `npm run audit:verify` checks the log of every account."
  )

export const AuditGroup = HttpApiGroup.make("audit")
  .add(listAuditRows)
  .middleware(Identity)
  .annotate(OpenApi.Description, "The log of all changes that are made through this API.")
