import type { AnalysedCall, CapturedConversation } from "../domain/CapturedCall.ts"
import type { PromptCache } from "../domain/Model.ts"
import { Preparation } from "./Prepare.ts"
import { type Reported, type ReportInput, reportOf } from "./Report.ts"
import { countsOf } from "./Tokens.ts"

/** What the engine does for one analysis, wherever it runs. */
export class EngineSession {
  private readonly preparation: Preparation
  constructor(caches: Readonly<Record<string, PromptCache>>) {
    this.preparation = new Preparation(countsOf, (model) => caches[model] ?? null)
  }
  add(
    conversation: Pick<CapturedConversation, "conversation" | "inclusion">,
    calls: ReadonlyArray<AnalysedCall>
  ): void {
    this.preparation.add(conversation, calls)
  }
  report(input: ReportInput): Reported {
    // the log of calls is read by when calls have ended: all of them are of the range
    const fromMillis = input.source === "captured" ? input.fromMillis : undefined
    return reportOf(this.preparation.workload(fromMillis), input)
  }
}

export type ToEngine =
  | { readonly type: "open"; readonly caches: Readonly<Record<string, PromptCache>> }
  | {
      readonly type: "add"
      readonly conversation: Pick<CapturedConversation, "conversation" | "inclusion">
      readonly calls: ReadonlyArray<AnalysedCall>
    }
  | { readonly type: "report"; readonly input: ReportInput }

export type FromEngine =
  | { readonly ok: true; readonly reported?: Reported }
  | { readonly ok: false; readonly error: string }
