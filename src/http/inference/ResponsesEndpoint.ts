import { responseObject } from "../../wire/responses/ResponsesObject.ts"
import { type DecodedResponses, decode, paramOf } from "../../wire/responses/ResponsesRequest.ts"
import { ResponsesStream } from "../../wire/responses/ResponsesStream.ts"
import { webSearchIn } from "../../wire/responses/ResponsesTools.ts"
import { inferencePaths } from "../Paths.ts"
import type { InferenceEndpoint } from "./InferenceHandler.ts"

const noHeaders: Readonly<Record<string, string>> = {}

/** POST /v1/responses (beta): another wire format of the same call. */
export const responsesEndpoint: InferenceEndpoint<DecodedResponses> = {
  name: "responses",
  path: inferencePaths.createResponse,
  decode,
  headers: ({ droppedTools }) => headersOf(droppedTools),
  headersOfRejected: (json) => headersOf(webSearchIn(json)),
  paramOf,
  nonStreaming: (completion, decoded) => responseObject(completion, decoded, completion.answer, completion.metadata),
  stream: (start, decoded, write) => new ResponsesStream(start, decoded, write)
}

const headersOf = (droppedTools: ReadonlyArray<string>): Readonly<Record<string, string>> =>
  droppedTools.length === 0 ? noHeaders : { "x-service-dropped-tools": listed(droppedTools) }

/** Clients limit the total size of headers; a longer list ends with an ellipsis. */
const maxListBytes = 1_024
const ellipsis = "..."

const listed = (names: ReadonlyArray<string>): string => {
  const all = names.join(", ")
  if (all.length <= maxListBytes) return all
  const cut = all.slice(0, maxListBytes - ellipsis.length)
  const whole = cut.lastIndexOf(", ")
  return `${whole < 0 ? "" : cut.slice(0, whole + 2)}${ellipsis}`
}
