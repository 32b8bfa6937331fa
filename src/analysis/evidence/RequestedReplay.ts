import * as Schema from "effect/Schema"
import { promptClasses } from "../../domain/PromptClass.ts"

/** What was confirmed with its quote. A later run asks the same, whatever has changed meanwhile. */
export const RequestedReplay = Schema.Struct({
  maxSpendMicroUsd: Schema.Int,
  /** Concrete id. */
  judgeModel: Schema.String,
  questions: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      promptClass: Schema.Literal(...promptClasses),
      incumbent: Schema.String,
      candidate: Schema.String,
      savingPerCallMicroUsd: Schema.Number,
      expectedMicroUsd: Schema.Number,
      pairs: Schema.Int,
      costs: Schema.Struct({ candidate: Schema.Number, incumbent: Schema.Number, judge: Schema.Number }),
      quote: Schema.Struct({
        costMicroUsd: Schema.Number,
        paybackCalls: Schema.NullOr(Schema.Number),
        paybackDays: Schema.NullOr(Schema.Number),
        isAdvised: Schema.Boolean
      })
    })
  )
})
export type RequestedReplay = typeof RequestedReplay.Type
