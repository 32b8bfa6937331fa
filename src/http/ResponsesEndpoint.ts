import { responseObject } from "../wire/ResponsesObject.ts"
import { type DecodedResponses, decode } from "../wire/ResponsesRequest.ts"
import { ResponsesStream } from "../wire/ResponsesStream.ts"
import type { Endpoint } from "./CallHttp.ts"

const noHeaders: Readonly<Record<string, string>> = {}

/** POST /v1/responses (beta): another wire format of the same call. */
export const responsesEndpoint: Endpoint<DecodedResponses> = {
  name: "responses",
  path: "/v1/responses",
  decode,
  headers: ({ droppedTools }) =>
    droppedTools.length === 0 ? noHeaders : { "x-service-dropped-tools": listed(droppedTools) },
  plain: (completion, decoded) => responseObject(completion, decoded, completion.answer, completion.metadata),
  stream: (start, decoded, write) => new ResponsesStream(start, decoded, write)
}

/** Clients bound the size of all headers together; a list that is longer ends in an ellipsis. */
const maxListBytes = 1_024
const ellipsis = "..."

const listed = (names: ReadonlyArray<string>): string => {
  const all = names.join(", ")
  if (all.length <= maxListBytes) return all
  const cut = all.slice(0, maxListBytes - ellipsis.length)
  const whole = cut.lastIndexOf(", ")
  return `${whole < 0 ? "" : cut.slice(0, whole + 2)}${ellipsis}`
}
