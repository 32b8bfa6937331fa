import * as Schema from "effect/Schema"
import { WireError } from "../ErrorBody.ts"
import type { EventName } from "../framing/Sse.ts"
import { freeForm } from "../validation/SchemaParts.ts"
import { OutputContent, OutputItem, ResponsesObject, SummaryText } from "./ResponsesObjectSchema.ts"

const index = (description: string) => Schema.Int.pipe(Schema.nonNegative()).annotations({ description })
const text = (description: string) => Schema.String.annotations({ description })

const itemAt = {
  item_id: text("Id of the item."),
  output_index: index("Position of the item in `output`.")
} as const
const contentAt = { ...itemAt, content_index: index("Position of the part in the message's `content`.") } as const
const summaryAt = { ...itemAt, summary_index: index("Position of the part in the item's `summary`.") } as const
const logprobs = Schema.Array(Schema.Unknown).annotations({
  description: "Log probabilities of this text's tokens, if requested."
})

const event = <Name extends EventName, Fields extends Schema.Struct.Fields>(
  name: Name,
  description: string,
  fields: Fields
) =>
  Schema.Struct({
    type: Schema.Literal(name).annotations({ description: "Name of the event, the same as in its `event:` line." }),
    sequence_number: index("Sequence number of the event in the response, from 0, without gaps."),
    ...fields
  }).annotations({ identifier: `ResponsesEvent.${name}`, description })

const response = ResponsesObject.annotations({ description: "Current state of the response." })
const item = OutputItem.annotations({ description: "Current state of the output item." })
const part = OutputContent.annotations({ description: "Current state of the part." })
const summaryPart = SummaryText.annotations({ description: "Current state of the part." })

/** The data of one event of a streamed response. */
export const ResponsesEvent = Schema.Union(
  event("response.created", "The response was created.", { response }),
  event("response.in_progress", "The response is in progress.", { response }),
  event("response.output_item.added", "An output item starts.", { output_index: itemAt.output_index, item }),
  event("response.output_item.done", "An output item is complete.", { output_index: itemAt.output_index, item }),
  event("response.content_part.added", "A content part of a message starts.", { ...contentAt, part }),
  event("response.content_part.done", "A content part of a message is complete.", { ...contentAt, part }),
  event("response.output_text.delta", "A fragment of the text.", {
    ...contentAt,
    delta: text("The text to append."),
    logprobs
  }),
  event("response.output_text.annotation.added", "A citation of the text.", {
    ...contentAt,
    annotation_index: index("Position of the annotation in the part's `annotations`."),
    annotation: freeForm.annotations({ description: "The annotation." })
  }),
  event("response.output_text.done", "A text is complete.", {
    ...contentAt,
    text: text("The complete text."),
    logprobs
  }),
  event("response.refusal.delta", "A fragment of a refusal.", { ...contentAt, delta: text("The text to append.") }),
  event("response.refusal.done", "A refusal is complete.", { ...contentAt, refusal: text("The complete refusal.") }),
  event("response.reasoning_summary_part.added", "A readable part of the reasoning starts.", {
    ...summaryAt,
    part: summaryPart
  }),
  event("response.reasoning_summary_part.done", "A readable part of the reasoning is complete.", {
    ...summaryAt,
    part: summaryPart
  }),
  event("response.reasoning_summary_text.delta", "A fragment of the reasoning text.", {
    ...summaryAt,
    delta: text("The text to append.")
  }),
  event("response.reasoning_summary_text.done", "A reasoning text is complete.", {
    ...summaryAt,
    text: text("The complete text.")
  }),
  event("response.function_call_arguments.delta", "A fragment of a call's arguments.", {
    ...itemAt,
    delta: text("The JSON text to append.")
  }),
  event("response.function_call_arguments.done", "A call's arguments are complete.", {
    ...itemAt,
    name: text("Name of the function."),
    arguments: text("The complete JSON text.")
  }),
  event("response.custom_tool_call_input.delta", "A fragment of a custom tool call's input.", {
    ...itemAt,
    delta: text("The text to append.")
  }),
  event("response.custom_tool_call_input.done", "A custom tool call's input is complete.", {
    ...itemAt,
    input: text("The complete input.")
  }),
  event("response.completed", "The response is complete; `[DONE]` follows.", { response }),
  event("response.incomplete", "The response was truncated by its token limit or a content filter; `[DONE]` follows.", {
    response
  }),
  event("error", "A failure during the stream; `response.failed` follows and no `[DONE]`.", {
    code: text("Stable, machine-readable error code."),
    message: text("Human-readable error message."),
    param: Schema.NullOr(Schema.String).annotations({ description: "Path of the invalid request field." }),
    error: WireError.annotations({ description: "The same error in the shape of error responses." })
  }),
  event("response.failed", "The response failed.", { response })
).annotations({ identifier: "ResponsesEvent", description: "Beta. One event of a streamed response." })
