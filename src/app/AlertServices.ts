import * as Layer from "effect/Layer"
import { AlertDelivery, watching } from "../account/alerts/AlertDelivery.ts"
import { ProjectAlerts } from "../account/alerts/ProjectAlerts.ts"
import { WebhookSecrets } from "../account/alerts/WebhookSecrets.ts"
import type { Settings } from "../config/Settings.ts"
import { Egress } from "../egress/Egress.ts"

/** Thresholds of spend, and what tells them to webhooks. */
export const alertServices = ({ proxy }: Pick<Settings, "proxy">) =>
  Layer.merge(ProjectAlerts.layer, watching.pipe(Layer.provide(AlertDelivery.layer))).pipe(
    Layer.provide([Egress.layer({ proxy }), WebhookSecrets.layer])
  )
