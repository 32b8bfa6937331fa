import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { makePace, type PaceShape } from "./Pace.ts"

/**
 * Keeps reports from slowing calls, which share the database and this process: one at a time for each person, and of what a
 * person asks for without a pause only so much that the database is idle of it most of the time.
 */
export class ReportPace extends Context.Tag("gateway/account/ReportPace")<ReportPace, PaceShape>() {
  static readonly layer: Layer.Layer<ReportPace> = Layer.sync(this, () => makePace("reports"))
}
