import { callerKey } from "./InProcess.ts"

/** A chat completion as its bytes on the connection, with the caller's key. */
export const rawPost = (body: string): string =>
  [
    "POST /v1/chat/completions HTTP/1.1",
    "host: gateway",
    `authorization: Bearer ${callerKey}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    "",
    body
  ].join("\r\n")
