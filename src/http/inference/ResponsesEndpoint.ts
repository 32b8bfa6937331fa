import { heartbeat } from "../../wire/framing/Sse.ts"
import { webSearchIn } from "../../wire/HostedTools.ts"
import { responseObject } from "../../wire/responses/ResponsesObject.ts"
import { type DecodedResponses, decode, paramOf } from "../../wire/responses/ResponsesRequest.ts"
import { ResponsesStream } from "../../wire/responses/ResponsesStream.ts"
import { inferencePaths } from "../Paths.ts"
import { droppedToolsHeader } from "./DroppedTools.ts"
import type { InferenceEndpoint } from "./InferenceEndpoint.ts"

/** POST /v1/responses (beta): another wire format of the same call. */
export const responsesEndpoint: InferenceEndpoint<DecodedResponses> = {
  name: "responses",
  path: inferencePaths.createResponse,
  decode,
  headers: ({ droppedTools }) => droppedToolsHeader(droppedTools),
  headersOfRejected: (json) => droppedToolsHeader(webSearchIn(json)),
  paramOf,
  nonStreaming: (completion, decoded) => responseObject(completion, decoded, completion.answer, completion.metadata),
  stream: (start, decoded, write) => new ResponsesStream(start, decoded, write),
  heartbeat
}
