import { badResponse, finishTable } from "../shared/FinishReasonTable.ts"

const google = "Google, Gemini API, FinishReason"

export const finishReasonOf = finishTable([
  ["STOP", "stop", google],
  ["MAX_TOKENS", "length", google],
  ["SAFETY", "content_filter", google],
  ["RECITATION", "content_filter", google],
  ["LANGUAGE", "content_filter", google],
  ["BLOCKLIST", "content_filter", google],
  ["PROHIBITED_CONTENT", "content_filter", google],
  ["SPII", "content_filter", google],
  ["IMAGE_SAFETY", "content_filter", google],
  ["IMAGE_PROHIBITED_CONTENT", "content_filter", google],
  ["IMAGE_RECITATION", "content_filter", google],
  ["MODEL_ARMOR", "content_filter", "Google, Vertex AI, FinishReason"],
  ["FUNCTION_CALL", "tool_calls", "servers that imitate Gemini"],
  ["MALFORMED_FUNCTION_CALL", badResponse("a malformed function call"), google],
  ["UNEXPECTED_TOOL_CALL", badResponse("a function call that was not allowed"), google],
  ["TOO_MANY_TOOL_CALLS", badResponse("too many function calls"), google],
  ["MISSING_THOUGHT_SIGNATURE", badResponse("a function call without its signature"), google],
  ["MALFORMED_RESPONSE", badResponse("a malformed answer"), google],
  ["OTHER", badResponse("an answer that was broken off for an unknown reason"), google]
])
