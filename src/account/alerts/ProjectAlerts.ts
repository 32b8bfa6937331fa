import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Audit } from "../../audit/Audit.ts"
import type { NotFound, RoleRequired, SealingUnavailable, VersionMismatch } from "../../domain/AccountError.ts"
import type { CurrentUser } from "../../domain/CurrentUser.ts"
import { InvalidRequest, type StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { Egress } from "../../egress/Egress.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import { ProjectStore } from "../../identity/projects/ProjectStore.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import type { AlertEventOut, AlertsOut, AlertThreshold, UpdateAlertsRequest } from "../../wire/account/Alerts.ts"
import { type AlertEvent, AlertStore, type Alerts } from "./AlertStore.ts"
import { WebhookSecrets } from "./WebhookSecrets.ts"

/** Alerts as they are sent, with what tells one version of them from another. */
export interface VersionedAlerts {
  readonly alerts: AlertsOut
  readonly version: ReadonlyArray<string | null>
}

export interface ProjectAlertsShape {
  readonly read: (id: ProjectId) => Effect.Effect<VersionedAlerts, NotFound | StoreUnavailable, CurrentUser>
  /** `check` sees the version before the change and can refuse it. */
  readonly update: (
    id: ProjectId,
    request: UpdateAlertsRequest,
    check: (version: VersionedAlerts["version"]) => Effect.Effect<void, VersionMismatch>
  ) => Effect.Effect<
    VersionedAlerts,
    InvalidRequest | NotFound | RoleRequired | SealingUnavailable | StoreUnavailable | VersionMismatch,
    CurrentUser
  >
}

/** The spend alerts of projects. */
export class ProjectAlerts extends Context.Tag("gateway/account/ProjectAlerts")<ProjectAlerts, ProjectAlertsShape>() {
  static readonly layer: Layer.Layer<
    ProjectAlerts,
    never,
    AccountTransactions | AlertStore | Audit | Egress | ProjectAccess | ProjectStore | WebhookSecrets
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const maxEventsShown = 20

const make = Effect.gen(function* () {
  const access = yield* ProjectAccess
  const store = yield* AlertStore
  const projects = yield* ProjectStore
  const secrets = yield* WebhookSecrets
  const egress = yield* Egress
  const audit = yield* Audit
  const transactions = yield* AccountTransactions

  const checked = ({ thresholds, webhook_url }: UpdateAlertsRequest) =>
    Effect.gen(function* () {
      if (webhook_url !== null) {
        yield* Effect.mapError(egress.check(webhook_url), ({ reason }) => invalid("webhook_url", reason))
      }
      const twice = firstRepeated(thresholds)
      if (twice !== undefined) {
        return yield* invalid(`thresholds[${twice}]`, "it contains the same threshold twice")
      }
    })

  /** The URL of before keeps its secret: whoever has it can go on to check what is sent there. */
  const webhookAfter = (id: ProjectId, { webhook }: Alerts, { rotate_secret, webhook_url }: UpdateAlertsRequest) =>
    Effect.gen(function* () {
      if (webhook_url === null) return { webhook: null, secret: null }
      if (webhook?.url === webhook_url && !rotate_secret) return { webhook, secret: null }
      const made = yield* secrets.make(id)
      return { webhook: { url: webhook_url, sealedSecret: made.sealed }, secret: Redacted.value(made.secret) }
    })

  const shown = (id: ProjectId, alerts: Alerts, secret: string | null, isViewer: boolean) =>
    Effect.map(
      store.events(id, maxEventsShown),
      (events): VersionedAlerts => ({
        alerts: {
          webhook_url: isViewer ? originOf(alerts) : (alerts.webhook?.url ?? null),
          webhook_secret: secret,
          thresholds: alerts.thresholds,
          events: events.map(eventOut)
        },
        version: versionOf(alerts)
      })
    )

  return ProjectAlerts.of({
    read: (id) =>
      Effect.gen(function* () {
        const { role } = yield* access.find(id)
        return yield* shown(id, yield* store.read(id), null, role === "viewer")
      }),
    update: (id, request, check) =>
      Effect.gen(function* () {
        yield* access.require(id, "member")
        yield* checked(request)
        return yield* transactions.commit(() =>
          Effect.gen(function* () {
            yield* projects.lock(id)
            // it may have been deleted while the URL was checked
            const { accountId } = yield* access.require(id, "member")
            yield* store.lock(id)
            const before = yield* store.read(id)
            yield* check(versionOf(before))
            const { secret, webhook } = yield* webhookAfter(id, before, request)
            const after: Alerts = { webhook, thresholds: request.thresholds }
            yield* store.write(id, after)
            yield* audit.record({
              accountId,
              action: "alerts.update",
              target: { kind: "project", id },
              before: audited(before),
              after: { ...audited(after), has_new_secret: secret !== null }
            })
            return yield* shown(id, after, secret, false)
          })
        )
      })
  })
})

const invalid = (param: string, reason: string) =>
  new InvalidRequest({ code: "invalid_value", message: `Invalid value for '${param}': ${reason}.`, param })

const firstRepeated = (thresholds: ReadonlyArray<AlertThreshold>): number | undefined => {
  const keys = thresholds.map((one) =>
    one.type === "spend" ? `${one.period} ${one.amount_microusd}` : `${one.percent} %`
  )
  const at = keys.findIndex((key, index) => keys.indexOf(key) < index)
  return at === -1 ? undefined : at
}

const versionOf = ({ thresholds, webhook }: Alerts): VersionedAlerts["version"] => [
  JSON.stringify(thresholds),
  webhook?.url ?? null,
  webhook === null ? null : Buffer.from(webhook.sealedSecret).toString("base64")
]

/** The rest of a URL may be what gives access to it. */
const originOf = ({ webhook }: Alerts): string | null => (webhook === null ? null : new URL(webhook.url).origin)

const audited = (alerts: Alerts) => ({ webhook_origin: originOf(alerts), thresholds: alerts.thresholds })

const eventOut = (event: AlertEvent): AlertEventOut => ({
  id: event.id,
  threshold: event.threshold,
  period_start: event.periodStart,
  spent_microusd: event.spentMicroUsd,
  limit_microusd: event.limitMicroUsd,
  fired_at: event.firedAt,
  delivery: {
    status: statusOf(event),
    attempts: event.attempts,
    last_error: event.lastError,
    delivered_at: event.deliveredAt
  }
})

const statusOf = ({ attempts, deliveredAt, nextAttemptAt }: AlertEvent): AlertEventOut["delivery"]["status"] => {
  if (deliveredAt !== null) return "delivered"
  if (nextAttemptAt !== null) return "pending"
  return attempts === 0 ? "not_sent" : "failed"
}
