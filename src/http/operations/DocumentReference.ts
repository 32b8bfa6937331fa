import * as HttpApi from "@effect/platform/HttpApi"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import { Api } from "../Api.ts"
import { AccountApi } from "../account/AccountApi.ts"
import { requestExamples } from "./DocumentExamples.ts"
import { declareHeaders, documentedHeaders, documentedParameters, hasParameter } from "./DocumentHeaders.ts"
import { isObject, type Json, tidySchemas } from "./DocumentSchemas.ts"

/** What readers, generators and validators need beside the operations themselves. */
export const asReference = (spec: Json): Json => {
  tidySchemas(spec)
  spec["servers"] = [{ url: "/", description: "The gateway that serves this document." }]
  spec["tags"] = tags
  const components = objectAt(spec, "components")
  components["headers"] = documentedHeaders
  components["parameters"] = documentedParameters
  for (const [path, methods] of Object.entries(objectAt(spec, "paths"))) {
    const operations = Object.entries(isObject(methods) ? methods : {})
    const isVersioned = operations.some(([, operation]) => takesIfMatch(operation))
    for (const [method, operation] of operations) {
      if (!isObject(operation)) continue
      const [group = ""] = String(operation["operationId"]).split(".", 1)
      operation["tags"] = [group]
      declareHeaders(path, operation, isVersioned && (method === "get" || takesIfMatch(operation)))
      separateStream(operation)
      const examples = requestExamples[path]
      const json = examples && objectAt(objectAt(objectAt(operation, "requestBody"), "content"), "application/json")
      if (json !== undefined) json["examples"] = examples
    }
  }
  return spec
}

const takesIfMatch = (operation: unknown): boolean => isObject(operation) && hasParameter(operation, "if-match")

/**
 * A stream that a request asks for stands beside the response, in `x-event-stream`: as another content type of the same status it
 * would make generated clients type every response as either.
 */
const separateStream = (operation: Json): void => {
  const responses = objectAt(operation, "responses")
  const ok = responses["200"]
  const content = isObject(ok) ? ok["content"] : undefined
  if (!isObject(ok) || !isObject(content) || !("text/event-stream" in content)) return
  const { "text/event-stream": stream, ...others } = content
  if (Object.keys(others).length === 0) return
  ok["content"] = others
  ok["description"] =
    "Without `stream`: the complete response. With `stream: true` the body is `text/event-stream`, and `x-event-stream` has the schema of each event's data."
  operation["x-event-stream"] = { "text/event-stream": stream }
}

const groupsOf = (api: HttpApi.HttpApi.Any): ReadonlyArray<Json> => {
  const found: Array<Json> = []
  HttpApi.reflect(api as Parameters<typeof HttpApi.reflect>[0], {
    onGroup: ({ group }) => {
      const description = Option.getOrElse(Context.getOption(group.annotations, OpenApi.Description), () => "")
      found.push({ name: group.identifier, description })
    },
    onEndpoint: () => {}
  })
  return found
}

const tags: ReadonlyArray<Json> = [...groupsOf(Api), ...groupsOf(AccountApi)]

const objectAt = (parent: Json, key: string): Json => {
  const value = parent[key]
  if (!isObject(value)) throw new Error(`the OpenAPI document has no ${key}`)
  return value
}
