import { documentPath, inferencePaths, modelPath, projectChatPath, routedPaths } from "../Paths.ts"
import { isObject, type Json } from "./DocumentSchemas.ts"

const text = { type: "string" }

/** Headers of answers, by the name under which operations refer to them. */
export const documentedHeaders: Json = {
  RequestId: { description: "The gateway's id of the request; include it when you report a problem.", schema: text },
  AnthropicRequestId: { description: "The same as `x-request-id`, in responses in Anthropic's format.", schema: text },
  CacheControl: { description: "Responses must not be cached.", schema: text },
  ContentTypeOptions: { description: "Always nosniff.", schema: text },
  DroppedTools: {
    description: "Hosted tools that were removed from the request before execution, separated by commas.",
    schema: text
  },
  IdempotentReplayed: {
    description:
      "true: this is the response to an earlier request with the same `Idempotency-Key`; nothing was charged.",
    schema: text
  },
  RetryAfter: { description: "Whole seconds to wait before retrying.", schema: { type: "integer", minimum: 1 } },
  ShouldRetry: { description: "Whether official clients should retry: true or false.", schema: text },
  Authenticate: { description: "Always Bearer.", schema: text },
  Vary: { description: "Request headers that the response depends on.", schema: text },
  AccelBuffering: { description: "no, on streams: proxies must not buffer them.", schema: text },
  AnswerReplayed: {
    description:
      "true: this is the response to an earlier request with the same `Idempotency-Key`; the operation was not repeated.",
    schema: text
  },
  EntityTag: { description: "Version of the returned resource, for `If-Match`.", schema: text },
  Attachment: { description: "File name for saving the export.", schema: text },
  Location: { description: "URL that the browser is redirected to.", schema: text },
  SetCookie: {
    description: "The cookie of the session, or of a sign-in in progress; cleared when it has ended.",
    schema: text
  }
}

/** Headers of requests. */
export const documentedParameters: Json = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "Makes the call idempotent: for 24 hours, a retry with the same key and body receives the first response again and is not charged. 1 to 255 printable ASCII characters.",
    schema: { type: "string", minLength: 1, maxLength: 255 }
  },
  ClientRequestId: {
    name: "x-request-id",
    in: "header",
    required: false,
    description:
      "The client's own id of the request, recorded in the request log: letters, digits, `.`, `_` and `-`, at most 64 characters.",
    schema: { type: "string", pattern: "^[\\w.-]{1,64}$" }
  },
  TraceParent: {
    name: "traceparent",
    in: "header",
    required: false,
    description: "The client's trace (W3C Trace Context), which the call belongs to where the service records spans.",
    schema: { type: "string" }
  },
  AnthropicVersion: {
    name: "anthropic-version",
    in: "header",
    required: false,
    description: "With any value, the response has the shape of Anthropic's model list.",
    schema: { type: "string" }
  }
}

const publicCalls: ReadonlySet<string> = new Set<string>([
  inferencePaths.createChatCompletion,
  inferencePaths.createResponse,
  inferencePaths.createMessage
])
const calls: ReadonlySet<string> = new Set<string>([...publicCalls, documentPath(projectChatPath)])
/** Hosted tools are removed there. */
const toolDropping: ReadonlySet<string> = new Set<string>([
  inferencePaths.createResponse,
  inferencePaths.createMessage,
  inferencePaths.countMessageTokens
])
const inAnthropicFormat: ReadonlySet<string> = new Set<string>([
  inferencePaths.createMessage,
  inferencePaths.countMessageTokens
])
const lists: ReadonlySet<string> = new Set<string>([routedPaths.listModels, documentPath(modelPath)])

const header = (name: string): Json => ({ $ref: `#/components/headers/${name}` })
const parameter = (name: string): Json => ({ $ref: `#/components/parameters/${name}` })

const always: Json = { "x-request-id": header("RequestId"), "X-Content-Type-Options": header("ContentTypeOptions") }

const byStatus: Readonly<Record<string, Json>> = {
  401: { "WWW-Authenticate": header("Authenticate") },
  429: { "Retry-After": header("RetryAfter") },
  503: { "Retry-After": header("RetryAfter") }
}

const byStatusOfCalls: Readonly<Record<string, Json>> = {
  200: { "idempotent-replayed": header("IdempotentReplayed"), "X-Accel-Buffering": header("AccelBuffering") },
  402: { "Retry-After": header("RetryAfter"), "x-should-retry": header("ShouldRetry") },
  502: {
    "Retry-After": header("RetryAfter"),
    "x-should-retry": header("ShouldRetry"),
    "idempotent-replayed": header("IdempotentReplayed")
  }
}

const setCookie: Json = { "Set-Cookie": header("SetCookie") }

/** What single operations send when they succeed. */
const byOperation: Readonly<Record<string, Json>> = {
  "session.createSession": setCookie,
  "session.deleteSession": setCookie,
  "oidc.startOidc": { Location: header("Location"), ...setCookie },
  "oidc.finishOidc": { Location: header("Location"), ...setCookie },
  "requests.listRequests": { "Content-Disposition": header("Attachment") },
  "capture.exportCapture": { "Content-Disposition": header("Attachment") },
  "chat.followConversation": { "X-Accel-Buffering": header("AccelBuffering") },
  "keys.revokeKey": { ETag: header("EntityTag") },
  "routing.activateRoutingVersion": { ETag: header("EntityTag") }
}

/** They answer without headers of their own, but for errors. */
const monitoring: ReadonlySet<string> = new Set<string>([routedPaths.livez, routedPaths.readyz, routedPaths.metrics])

/**
 * Declares on an operation the headers that are read and sent there, beside those that it declares itself; `versioned`: what it
 * answers is changed at the same path under `If-Match`.
 */
export const declareHeaders = (path: string, operation: Json, versioned: boolean): void => {
  if (calls.has(path)) addParameters(operation, "IdempotencyKey", "ClientRequestId", "TraceParent")
  if (lists.has(path)) addParameters(operation, "AnthropicVersion")
  for (const [status, response] of Object.entries(isObject(operation["responses"]) ? operation["responses"] : {})) {
    if (!isObject(response)) continue
    const own = isObject(response["headers"]) ? response["headers"] : {}
    response["headers"] = {
      ...always,
      ...(monitoring.has(path) && status !== "401"
        ? {}
        : { "Cache-Control": header("CacheControl"), ...byStatus[status] }),
      ...(calls.has(path) ? byStatusOfCalls[status] : {}),
      ...(Number(status) < 400 ? ofSuccess(operation, versioned) : {}),
      ...(lists.has(path) || inAnthropicFormat.has(path) ? { "request-id": header("AnthropicRequestId") } : {}),
      ...(lists.has(path) && status === "200" ? { Vary: header("Vary") } : {}),
      ...(toolDropping.has(path) ? { "X-Service-Dropped-Tools": header("DroppedTools") } : {}),
      ...own
    }
  }
}

const ofSuccess = (operation: Json, versioned: boolean): Json => ({
  ...(versioned ? { ETag: header("EntityTag") } : {}),
  ...(hasParameter(operation, "idempotency-key") ? { "idempotent-replayed": header("AnswerReplayed") } : {}),
  ...byOperation[String(operation["operationId"])]
})

/** The operation declares it itself. */
export const hasParameter = (operation: Json, name: string): boolean =>
  Array.isArray(operation["parameters"]) && operation["parameters"].some((one) => isObject(one) && one["name"] === name)

const addParameters = (operation: Json, ...names: ReadonlyArray<string>): void => {
  const before = Array.isArray(operation["parameters"]) ? operation["parameters"] : []
  operation["parameters"] = [...before, ...names.map(parameter)]
}
