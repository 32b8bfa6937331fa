import * as Effect from "effect/Effect"
import { expect } from "vitest"
import { Capture } from "../../src/capture/Capture.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import type { AnalysisDetail, AnalysisSummary } from "../../src/wire/account/Analyses.ts"
import type { CaptureSettings } from "../../src/wire/account/Capture.ts"
import { type AccountNode, type Person, sendTo } from "./AccountService.ts"
import { whenSeen } from "./WhenSeen.ts"

export type Detail = typeof AnalysisDetail.Encoded
/** Whatever an earlier version has left out stands in an answer. */
export type Report = Required<NonNullable<Detail["report"]>>

/** A project that collects what its calls opt in to, and its analyses. */
export interface AnalysedProject {
  readonly id: string
  readonly chat: (
    body: object
  ) => Promise<{ readonly model: string; readonly usage: Readonly<Record<string, unknown>> }>
  /** A request of its owner, which has to succeed. */
  readonly ask: <A>(method: string, path: string, body?: unknown) => Promise<A>
  /** Runs an analysis over what was called up to now. */
  readonly analyse: (body?: object) => Promise<Detail>
  /** An analysis when it has ended. */
  readonly ended: (id: string) => Promise<Detail>
}

export const reportOf = ({ report }: Detail): Report => {
  if (report === null) throw new Error("the analysis has no report")
  const { alpha_curve, segments } = report
  if (alpha_curve === undefined || segments === undefined) throw new Error("the report is not complete")
  return { ...report, alpha_curve, segments }
}

/** Made by the owner, with credit from the operator. */
export const analysedProject = async (
  node: AccountNode,
  owner: Person,
  operator: Person,
  capture: Partial<typeof CaptureSettings.Encoded> = {}
): Promise<AnalysedProject> => {
  const ask = async <A>(method: string, path: string, body?: unknown): Promise<A> => {
    const response = await owner.send(method, path, body)
    const answer = (await response.json()) as A
    expect([method, path, response.ok, response.ok ? null : answer]).toEqual([method, path, true, null])
    return answer
  }
  const { id } = await ask<{ readonly id: string }>("POST", "/api/me/projects", { name: "analysed" })
  await operator.send(
    "POST",
    `/api/admin/accounts/${owner.accountId}/credits`,
    { amount_microusd: 100_000_000, note: "for calls" },
    { "idempotency-key": id }
  )
  const { api_key } = await ask<{ readonly api_key: string }>("POST", `/api/projects/${id}/keys`, { name: "one" })
  await ask("PUT", `/api/projects/${id}/capture`, { enabled: true, sampling_rate: 1, config_version: 0, ...capture })
  const send = sendTo(node.url, { authorization: `Bearer ${api_key}` })
  const ended = (analysis: string): Promise<Detail> =>
    whenSeen(
      () => ask<Detail>("GET", `/api/analyses/${analysis}`),
      ({ finished_at }) => finished_at !== null
    )
  return {
    id,
    ask,
    ended,
    chat: async (body) => {
      const response = await send("POST", "/v1/chat/completions", { model: "auto", token_doctor: true, ...body })
      const answer = (await response.json()) as Awaited<ReturnType<AnalysedProject["chat"]>>
      expect([response.status, response.status === 200 ? null : answer]).toEqual([200, null])
      return answer
    },
    analyse: async (body = {}) => {
      await node.run(
        Effect.zipRight(
          Effect.flatMap(Ledger, ({ flushed }) => flushed),
          Effect.flatMap(Capture, ({ flushed }) => flushed)
        )
      )
      const started = await ask<typeof AnalysisSummary.Encoded>("POST", `/api/projects/${id}/analyses`, body)
      return ended(started.id)
    }
  }
}
