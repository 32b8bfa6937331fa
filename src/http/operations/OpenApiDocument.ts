import { STATUS_CODES } from "node:http"
import * as HttpApi from "@effect/platform/HttpApi"
import * as OpenApi from "@effect/platform/OpenApi"
import * as JSONSchema from "effect/JSONSchema"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import { ChatCompletionChunk } from "../../wire/chat/ChatAnswerSchema.ts"
import { AnthropicErrorResponse, ErrorResponse } from "../../wire/ErrorBody.ts"
import { MessagesEvent } from "../../wire/messages/MessagesEventSchema.ts"
import { ResponsesEvent } from "../../wire/responses/ResponsesEventSchema.ts"
import { Api, type ErrorStatus, errorDescription } from "../Api.ts"
import { AccountApi } from "../account/AccountApi.ts"
import { codesOf } from "../account/DeclaredErrors.ts"
import { documentPath, inferencePaths, modelPath, projectChatPath, routedPaths } from "../Paths.ts"
import { asReference } from "./DocumentReference.ts"
import type { Json } from "./DocumentSchemas.ts"

/**
 * The declaration with what HttpApi cannot express: streamed responses, the errors of an endpoint, and its authentication.
 */
export const DocumentedApi = Api.addHttpApi(AccountApi).annotate(OpenApi.Transform, (spec) =>
  asReference(completed(structuredClone(spec)))
)

/** The OpenAPI document. */
export const openApiDocument = (): OpenApi.OpenAPISpec => OpenApi.fromApi(DocumentedApi)

const callErrors: ReadonlyArray<ErrorStatus> = [400, 401, 402, 404, 429, 500, 502, 503]
const countErrors: ReadonlyArray<ErrorStatus> = [400, 401, 404, 429, 500, 503]
const listErrors: ReadonlyArray<ErrorStatus> = [400, 401, 429, 500, 503]

const keyErrors: ReadonlyArray<ErrorStatus> = [400, 401, 429, 500, 503]

const completed = (spec: Json): Json => {
  const components = child(spec, "components")
  components["securitySchemes"] = {
    projectKey: { type: "http", scheme: "bearer", description: "A project API key, `mrg_sk_…`." },
    apiKeyHeader: {
      type: "apiKey",
      in: "header",
      name: "x-api-key",
      description: "The same key, only on the paths of the Messages format; the Authorization header takes precedence."
    },
    metricsToken: { type: "http", scheme: "bearer", description: "`METRICS_TOKEN` of the service." },
    ...identitySchemes
  }
  const schemas = child(components, "schemas")
  // the platform documents a 400 that is never sent
  for (const own of ["HttpApiDecodeError", "Issue", "PropertyKey"]) delete schemas[own]
  schemaOf(ErrorResponse, schemas)
  const paths = child(spec, "paths")
  describe(operation(paths, inferencePaths.createChatCompletion, "post"), schemas, callErrors, ChatCompletionChunk)
  describe(operation(paths, inferencePaths.createResponse, "post"), schemas, callErrors, ResponsesEvent)
  const asPerson = operation(paths, documentPath(projectChatPath), "post")
  describe(asPerson, schemas, callErrors, ChatCompletionChunk)
  asPerson["security"] = identities
  child(asPerson, "responses")["403"] = {
    description: "The viewer role does not permit this operation.",
    content: errorSchema
  }
  describeMessages(operation(paths, inferencePaths.createMessage, "post"), schemas, callErrors, MessagesEvent)
  describeMessages(operation(paths, inferencePaths.countMessageTokens, "post"), schemas, countErrors)
  describe(operation(paths, routedPaths.listModels, "get"), schemas, listErrors)
  describe(operation(paths, documentPath(modelPath), "get"), schemas, [...listErrors, 404])
  schemaOf(AnthropicErrorResponse, schemas)
  for (const path of [routedPaths.listModels, documentPath(modelPath)]) {
    for (const [status, response] of Object.entries(child(operation(paths, path, "get"), "responses"))) {
      if (status !== "200") (response as Json)["content"] = { "application/json": { schema: { anyOf: eitherError } } }
    }
  }
  describe(operation(paths, routedPaths.previewRoute, "post"), schemas, listErrors)
  describe(operation(paths, routedPaths.giveFeedback, "post"), schemas, [...listErrors, 404])
  const ofFeedback = child(operation(paths, routedPaths.giveFeedback, "post"), "responses")
  child(ofFeedback, "404")["description"] = "The call was not found in the project, or has not ended yet."
  describe(operation(paths, routedPaths.getKey, "get"), schemas, keyErrors)
  describe(operation(paths, routedPaths.getGeneration, "get"), schemas, [...keyErrors, 404])
  const ofGeneration = child(operation(paths, routedPaths.getGeneration, "get"), "responses")
  child(ofGeneration, "404")["description"] = "The call was not found in the project, or has not ended yet."
  for (const path of [
    inferencePaths.createChatCompletion,
    inferencePaths.createResponse,
    inferencePaths.createMessage,
    documentPath(projectChatPath)
  ]) {
    child(child(operation(paths, path, "post"), "responses"), "402")["headers"] = {
      ...rateLimitHeaders,
      "Retry-After": {
        description: "If `reason` is held: whole seconds until running calls are expected to have released enough.",
        schema: { type: "integer", minimum: 1 }
      },
      "x-should-retry": { description: "true if `reason` is held.", schema: { type: "string" } }
    }
  }
  const responses = operation(paths, inferencePaths.createResponse, "post")
  responses["x-beta"] = true
  describeAccount(paths)
  // beside the response, as streams are: as other content types of the same status generated clients would type it as either
  operation(paths, "/api/projects/{id}/requests", "get")["x-exports"] = {
    "text/csv": { schema: { type: "string" } },
    "application/x-ndjson": { schema: { $ref: "#/components/schemas/RequestOut" } }
  }
  for (const path of [routedPaths.livez, routedPaths.readyz, routedPaths.metrics]) {
    const one = operation(paths, path, "get")
    delete child(one, "responses")["400"]
    delete child(one, "responses")["500"]
  }
  const metrics = operation(paths, routedPaths.metrics, "get")
  metrics["security"] = [{ metricsToken: [] }, {}]
  child(child(metrics, "responses"), "401")["content"] = errorSchema
  describeByStatus(paths, new Set([...Object.keys(schemas), "Success", "Error", "a string"]))
  return spec
}

/** Where nothing else is said of a response, HttpApi writes the name of its schema: the status says more. */
const describeByStatus = (paths: Json, names: ReadonlySet<string>): void => {
  for (const path of Object.keys(paths)) {
    for (const method of Object.keys(child(paths, path))) {
      const responses = child(operation(paths, path, method), "responses")
      for (const status of Object.keys(responses)) {
        const response = child(responses, status)
        if (names.has(String(response["description"]))) response["description"] = STATUS_CODES[status] ?? status
      }
    }
  }
}

/** Anthropic's shape for requests with an `anthropic-version` header. */
const eitherError: ReadonlyArray<Json> = [
  { $ref: "#/components/schemas/ErrorResponse" },
  { $ref: "#/components/schemas/AnthropicErrorResponse" }
]

/** On the account API, and never project keys; the cookie counts only with the page token. */
const identitySchemes: Json = {
  identityToken: {
    type: "http",
    scheme: "bearer",
    description: "A session token, or a token of the identity provider."
  },
  sessionCookie: {
    type: "apiKey",
    in: "cookie",
    name: "gateway_session",
    description: "The cookie of a session; its name is `__Host-gateway_session` or `gateway_session_<port>`."
  },
  pageToken: { type: "apiKey", in: "header", name: "x-csrf-token", description: "`csrf_token` of the same session." }
}

const identities: ReadonlyArray<Json> = [{ identityToken: [] }, { sessionCookie: [], pageToken: [] }]
const errorSchema: Json = { "application/json": { schema: { $ref: "#/components/schemas/ErrorResponse" } } }

/** HttpApi lists an error once for each code; here each status has one description. */
const describeAccount = (paths: Json): void => {
  HttpApi.reflect(AccountApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { method, path }, errors, middleware }) => {
      const target = operation(paths, documentPath(path), method.toLowerCase())
      target["security"] = middleware.size === 0 ? [] : identities
      const responses = child(target, "responses")
      for (const [status, { ast }] of errors) {
        const codes = Option.match(ast, { onNone: () => [], onSome: codesOf })
        const listed = codes.length === 0 ? "" : ` \`code\`: ${codes.map((code) => `\`${code}\``).join(", ")}.`
        const description = `${accountErrors.get(status) ?? "An error."}${listed}`
        responses[String(status)] = { description, content: errorSchema }
      }
    }
  })
}

const accountErrors: ReadonlyMap<number, string> = new Map([
  [400, "The request is invalid; `param` names the field."],
  [401, "The session or identity token is missing or invalid."],
  [403, "The caller's role does not permit this operation."],
  [404, "Not found, or it belongs to another account."],
  [409, "The request conflicts with the current state; see `code`."],
  [412, "The resource has changed since it was read."],
  [429, "Too many requests; `Retry-After` has the seconds to wait."],
  [502, "The payment provider could not be reached, or rejected the request."],
  [503, "Temporarily unavailable, or not configured; see `code`."]
])

/** Present where a limit per minute is configured. */
const rateLimitHeaders: Json = Object.fromEntries(
  ["requests", "tokens"].flatMap((what) =>
    [
      ["limit", `The limit: ${what} per minute.`, "integer"],
      ["remaining", `Remaining ${what} of the limit per minute.`, "integer"],
      ["reset", "Time until the complete limit is available again, such as `250ms`, `7s` or `6m0s`.", "string"]
    ].map(([kind, description, type]) => [`x-ratelimit-${kind}-${what}`, { description, schema: { type } }])
  )
)

const describe = (
  target: Json,
  schemas: Json,
  statuses: ReadonlyArray<ErrorStatus>,
  event?: Schema.Schema.AnyNoContext
): void => {
  target["security"] = [{ projectKey: [] }]
  const responses = child(target, "responses")
  for (const status of Object.keys(responses)) if (status !== "200") delete responses[status]
  for (const status of statuses) {
    responses[String(status)] = {
      description: errorDescription(status),
      content: { "application/json": { schema: { $ref: "#/components/schemas/ErrorResponse" } } }
    }
  }
  // a call is counted before whatever else it is refused for
  const counted = statuses === callErrors || statuses === countErrors ? Object.keys(responses) : ["200", "429"]
  for (const status of counted) if (status !== "401") child(responses, status)["headers"] = rateLimitHeaders
  if (event !== undefined) {
    child(child(responses, "200"), "content")["text/event-stream"] = {
      // a failure after the head is one event of its own
      schema: { anyOf: [schemaOf(event, schemas), { $ref: "#/components/schemas/ErrorResponse" }] }
    }
  }
}

/** The same in Anthropic's form. */
const describeMessages = (
  target: Json,
  schemas: Json,
  statuses: ReadonlyArray<ErrorStatus>,
  event?: Schema.Schema.AnyNoContext
): void => {
  describe(target, schemas, statuses, event)
  target["security"] = [{ projectKey: [] }, { apiKeyHeader: [] }]
  const responses = child(target, "responses")
  if (event !== undefined) {
    // a failure after the head is among its events
    child(child(responses, "200"), "content")["text/event-stream"] = { schema: schemaOf(event, schemas) }
  }
  const schema = schemaOf(AnthropicErrorResponse, schemas)
  for (const [status, response] of Object.entries(responses)) {
    if (typeof response !== "object" || response === null) continue
    if (status !== "200") Object.assign(response, { content: { "application/json": { schema } } })
  }
}

/** Adds a schema that no declaration refers to. */
const schemaOf = (schema: Schema.Schema.AnyNoContext, schemas: Json): unknown => {
  const definitions: Record<string, JSONSchema.JsonSchema7> = {}
  const root = JSONSchema.fromAST(schema.ast, {
    definitions,
    definitionPath: "#/components/schemas/",
    target: "openApi3.1"
  })
  for (const [name, definition] of Object.entries(definitions)) schemas[name] ??= definition
  return root
}

const operation = (paths: Json, path: string, method: string): Json => child(child(paths, path), method)

const child = (parent: Json, key: string): Json => {
  const value = parent[key]
  if (typeof value !== "object" || value === null) throw new Error(`the OpenAPI document has no ${key}`)
  return value as Json
}
