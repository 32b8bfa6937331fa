import * as Schema from "effect/Schema"
import { WireError } from "./ErrorBody.ts"
import { OutputContent, OutputItem, ResponsesObject, SummaryText } from "./ResponsesObjectSchema.ts"
import { freeForm } from "./SchemaParts.ts"
import type { EventName } from "./Sse.ts"

const index = (description: string) => Schema.Int.pipe(Schema.nonNegative()).annotations({ description })
const text = (description: string) => Schema.String.annotations({ description })

const itemAt = {
  item_id: text("Id of the item."),
  output_index: index("Position of the item in `output`.")
} as const
const contentAt = { ...itemAt, content_index: index("Position of the part in the message's `content`.") } as const
const summaryAt = { ...itemAt, summary_index: index("Position of the part in the item's `summary`.") } as const
const logprobs = Schema.Array(Schema.Unknown).annotations({
  description: "Log probabilities of this text's tokens, when they were asked for."
})

const event = <Name extends EventName, Fields extends Schema.Struct.Fields>(
  name: Name,
  description: string,
  fields: Fields
) =>
  Schema.Struct({
    type: Schema.Literal(name).annotations({ description: "Name of the event, the same as in its `event:` line." }),
    sequence_number: index("Counts the events of the response from 0, without gaps."),
    ...fields
  }).annotations({ identifier: `ResponsesEvent.${name}`, description })

const response = ResponsesObject.annotations({ description: "The response as it is now." })
const item = OutputItem.annotations({ description: "The item as it is now." })
const part = OutputContent.annotations({ description: "The part as it is now." })
const summaryPart = SummaryText.annotations({ description: "The part as it is now." })

/** The data of one event of a streamed response. */
export const ResponsesEvent = Schema.Union(
  event("response.created", "Start of the lifecycle.", { response }),
  event("response.in_progress", "The model has begun to answer.", { response }),
  event("response.output_item.added", "An item begins.", { output_index: itemAt.output_index, item }),
  event("response.output_item.done", "An item is finished.", { output_index: itemAt.output_index, item }),
  event("response.content_part.added", "A part of a message begins.", { ...contentAt, part }),
  event("response.content_part.done", "A part of a message is finished.", { ...contentAt, part }),
  event("response.output_text.delta", "More text.", { ...contentAt, delta: text("The text to append."), logprobs }),
  event("response.output_text.annotation.added", "A citation of the text.", {
    ...contentAt,
    annotation_index: index("Position of the annotation in the part's `annotations`."),
    annotation: freeForm.annotations({ description: "The annotation." })
  }),
  event("response.output_text.done", "A text is finished.", { ...contentAt, text: text("The whole text."), logprobs }),
  event("response.refusal.delta", "More of a refusal.", { ...contentAt, delta: text("The text to append.") }),
  event("response.refusal.done", "A refusal is finished.", { ...contentAt, refusal: text("The whole refusal.") }),
  event("response.reasoning_summary_part.added", "Readable thoughts begin.", { ...summaryAt, part: summaryPart }),
  event("response.reasoning_summary_part.done", "Readable thoughts are finished.", { ...summaryAt, part: summaryPart }),
  event("response.reasoning_summary_text.delta", "More thoughts.", {
    ...summaryAt,
    delta: text("The text to append.")
  }),
  event("response.reasoning_summary_text.done", "A text of thoughts is finished.", {
    ...summaryAt,
    text: text("The whole text.")
  }),
  event("response.function_call_arguments.delta", "More of a call's arguments.", {
    ...itemAt,
    delta: text("The JSON text to append.")
  }),
  event("response.function_call_arguments.done", "A call's arguments are finished.", {
    ...itemAt,
    name: text("Name of the function."),
    arguments: text("The whole JSON text.")
  }),
  event("response.custom_tool_call_input.delta", "More of a custom call's input.", {
    ...itemAt,
    delta: text("The text to append.")
  }),
  event("response.custom_tool_call_input.done", "A custom call's input is finished.", {
    ...itemAt,
    input: text("The whole input.")
  }),
  event("response.completed", "End of a successful lifecycle; `[DONE]` follows.", { response }),
  event("response.incomplete", "End of an answer that was cut off by its cap or a filter; `[DONE]` follows.", {
    response
  }),
  event("error", "A failure during the stream; `response.failed` follows and no `[DONE]`.", {
    code: text("A stable, machine-readable word for what went wrong."),
    message: text("What went wrong, for a person."),
    param: Schema.NullOr(Schema.String).annotations({ description: "The request's field at fault." }),
    error: WireError.annotations({ description: "The same, as error responses have it." })
  }),
  event("response.failed", "End of a failed lifecycle.", { response })
).annotations({ identifier: "ResponsesEvent", description: "Beta. One event of a streamed response." })
