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
    droppedTools.length === 0 ? noHeaders : { "x-service-dropped-tools": droppedTools.join(", ") },
  plain: (completion, decoded) => responseObject(completion, decoded, completion.answer, completion.metadata),
  stream: (start, decoded, write) => new ResponsesStream(start, decoded, write)
}
