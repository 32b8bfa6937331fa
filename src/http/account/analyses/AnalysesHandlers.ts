import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { AccountIdempotency } from "../../../account/idempotency/AccountIdempotency.ts"
import { Analyses } from "../../../analysis/job/Analyses.ts"
import { AnalysisSummary } from "../../../wire/account/Analyses.ts"
import { page } from "../../../wire/account/Page.ts"
import { AccountApi } from "../AccountApi.ts"
import { idempotent } from "../Idempotent.ts"

export const analysesHandlers = HttpApiBuilder.group(AccountApi, "analyses", (handlers) =>
  Effect.gen(function* () {
    const analyses = yield* Analyses
    const idempotency = yield* AccountIdempotency
    return handlers
      .handle("estimateAnalysis", ({ path, payload }) => analyses.estimate(path.id, payload))
      .handle("createAnalysis", ({ headers, path, payload }) =>
        idempotent(
          idempotency,
          headers["idempotency-key"],
          { request: { path: `/api/projects/${path.id}/analyses`, body: payload }, schema: AnalysisSummary },
          analyses.create(path.id, payload)
        )
      )
      .handle("listAnalyses", ({ path, urlParams }) =>
        page(
          urlParams,
          (id) => id,
          (max, before) => analyses.list(path.id, max, before),
          (item) => item
        )
      )
      .handle("getAnalysis", ({ path }) => analyses.read(path.id))
      .handle("cancelAnalysis", ({ path }) => analyses.cancel(path.id))
      .handle("applyAnalysisAction", ({ path }) => analyses.apply(path.id, path.action_id))
      .handle("undoAnalysisAction", ({ path }) => analyses.undo(path.id, path.action_id))
  })
)
