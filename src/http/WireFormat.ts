import { anthropicErrorBody, errorBody, type WireError } from "../wire/ErrorBody.ts"
import { inferencePaths } from "./Paths.ts"

/** How errors and the id of a request are written on a path, and where its key may stand. */
export interface WireFormat {
  readonly errorBody: (error: WireError, requestId: string) => string
  /** A header for the id of the request besides `x-request-id`. */
  readonly requestIdHeader: string | undefined
  /** The key may also come in `x-api-key`. */
  readonly takesApiKeyHeader: boolean
}

export const openAiFormat: WireFormat = { errorBody, requestIdHeader: undefined, takesApiKeyHeader: false }

export const anthropicFormat: WireFormat = {
  errorBody: anthropicErrorBody,
  requestIdHeader: "request-id",
  takesApiKeyHeader: true
}

const messages = inferencePaths.createMessage

/** Unknown paths below that of the Messages format have its errors too. */
export const formatOf = (path: string): WireFormat =>
  path.startsWith(messages) && (path.length === messages.length || path.charAt(messages.length) === "/")
    ? anthropicFormat
    : openAiFormat
