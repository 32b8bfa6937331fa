import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { ProjectAlerts, type VersionedAlerts } from "../../../account/alerts/ProjectAlerts.ts"
import { AccountApi } from "../AccountApi.ts"
import { entityTag, requireMatch } from "../EntityTag.ts"
import { withHeader } from "../Idempotent.ts"

export const alertsHandlers = HttpApiBuilder.group(AccountApi, "alerts", (handlers) =>
  Effect.map(ProjectAlerts, (projectAlerts) =>
    handlers
      .handle("getAlerts", ({ path }) => Effect.flatMap(projectAlerts.read(path.id), sent))
      .handle("setAlerts", ({ headers, path, payload }) =>
        Effect.flatMap(
          projectAlerts.update(path.id, payload, (version) => requireMatch(headers["if-match"], entityTag(version))),
          sent
        )
      )
  )
)

const sent = ({ alerts, version }: VersionedAlerts) => Effect.as(withHeader("etag", entityTag(version)), alerts)
