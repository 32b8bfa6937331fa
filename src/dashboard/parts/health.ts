import type { Records } from "../api/client.ts"
import { percent, seconds } from "./format.ts"

type Health = Pick<Records["CatalogModelOut"], "health">

/** Below it a model counts as well: without calls the estimate is not zero. */
const failing = 0.2

/** `failed` is not called at the moment, `error` is, and fails often. */
export const stateOf = ({ health }: Health): "failed" | "error" | "active" =>
  health.open_for_ms > 0 ? "failed" : health.failure > failing ? "error" : "active"

export const healthOf = (of: Health): string => {
  switch (stateOf(of)) {
    case "failed":
      return `not tried for ${seconds(of.health.open_for_ms)}`
    case "error":
      return `fails ${percent(of.health.failure)}`
    case "active":
      return "healthy"
  }
}
