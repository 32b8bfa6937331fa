import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { AccountIdempotency } from "../../../account/idempotency/AccountIdempotency.ts"
import { ReportPace } from "../../../account/pace/ReportPace.ts"
import { AnalysisActions } from "../../../analysis/actions/AnalysisActions.ts"
import { Analyses } from "../../../analysis/job/Analyses.ts"
import { CurrentUser } from "../../../domain/CurrentUser.ts"
import { ProjectId } from "../../../domain/Ids.ts"
import { ProjectAccess } from "../../../identity/projects/ProjectAccess.ts"
import { AnalysisSummary } from "../../../wire/account/Analyses.ts"
import { ReplayQuote } from "../../../wire/account/AnalysisEvidence.ts"
import { AccountApi } from "../AccountApi.ts"
import { idempotent } from "../Idempotent.ts"
import { page } from "../Paging.ts"
import { policyReplayOf } from "../policy/ReplayRecords.ts"

export const analysesHandlers = HttpApiBuilder.group(AccountApi, "analyses", (handlers) =>
  Effect.gen(function* () {
    const analyses = yield* Analyses
    const actions = yield* AnalysisActions
    const pace = yield* ReportPace
    const idempotency = yield* AccountIdempotency
    const access = yield* ProjectAccess
    return handlers
      .handle("estimateAnalysis", ({ path, payload }) => analyses.estimate(path.id, payload))
      .handle("createAnalysis", ({ headers, path, payload }) =>
        idempotent(
          idempotency,
          headers["idempotency-key"],
          {
            body: payload,
            schema: AnalysisSummary,
            mayReplay: access.require(path.id, "member")
          },
          analyses.create(path.id, payload)
        )
      )
      .handle("listAnalyses", ({ path, urlParams }) =>
        page(
          "analyses",
          urlParams,
          (id) => id,
          (max, before) => analyses.list(path.id, max, before),
          (item) => item
        )
      )
      .handle("getAnalysis", ({ path }) => analyses.read(path.id))
      .handle("cancelAnalysis", ({ path }) => analyses.cancel(path.id))
      .handle("replayAnalysis", ({ headers, path, payload }) =>
        idempotent(
          idempotency,
          headers["idempotency-key"],
          {
            body: payload,
            schema: ReplayQuote,
            mayReplay: Effect.flatMap(analyses.read(path.id), ({ project_id }) =>
              access.require(ProjectId.make(project_id), "member")
            )
          },
          analyses.replay(path.id, payload)
        )
      )
      .handle("previewAnalysisAction", ({ path }) =>
        Effect.gen(function* () {
          const { userId } = yield* CurrentUser
          const { replay, ...preview } = yield* pace.run(userId, actions.preview(path.id, path.action_id))
          return { ...preview, replay: replay === null ? null : policyReplayOf(replay) }
        })
      )
      .handle("applyAnalysisAction", ({ path, payload }) => actions.apply(path.id, path.action_id, payload))
      .handle("undoAnalysisAction", ({ path }) => actions.undo(path.id, path.action_id))
  })
)
