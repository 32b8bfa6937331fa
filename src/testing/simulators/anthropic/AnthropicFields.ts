import { isObject, type Json, listAt, objectAt } from "../../../provider/protocols/shared/Json.ts"

/** The path of the first field that the API does not have there, if any: one makes the whole request invalid. */
export const unknownField = (body: Json): string | undefined => {
  for (const { fields, path, value } of objectsOf(body)) {
    const unknown = isObject(value) ? Object.keys(value).find((field) => !fields.includes(field)) : undefined
    if (unknown !== undefined) return path === "" ? unknown : `${path}.${unknown}`
  }
  return undefined
}

interface KnownFields {
  readonly path: string
  readonly value: unknown
  readonly fields: ReadonlyArray<string>
}

/** The objects whose fields are the same in every request, and the variants of a known type. */
const objectsOf = (body: Json): ReadonlyArray<KnownFields> => [
  { path: "", value: body, fields: bodyFields },
  { path: "metadata", value: body["metadata"], fields: ["user_id"] },
  { path: "output_config", value: body["output_config"], fields: ["effort", "format"] },
  { path: "output_config.format", value: objectAt(body, "output_config")?.["format"], fields: ["type", "schema"] },
  ...variant(body, "thinking", reasoningFields),
  ...variant(body, "tool_choice", choiceFields),
  ...listAt(body, "messages").map((value, at) => ({ path: `messages.${at}`, value, fields: ["role", "content"] })),
  ...listAt(body, "tools").map((value, at) => ({ path: `tools.${at}.custom`, value, fields: toolFields }))
]

const variant = (
  body: Json,
  path: string,
  byType: Readonly<Record<string, ReadonlyArray<string>>>
): ReadonlyArray<KnownFields> => {
  const value = body[path]
  const fields = isObject(value) ? byType[String(value["type"])] : undefined
  return fields === undefined ? [] : [{ path, value, fields }]
}

const bodyFields = [
  "model",
  "max_tokens",
  "messages",
  "system",
  "tools",
  "tool_choice",
  "stop_sequences",
  "stream",
  "thinking",
  "output_config",
  "metadata",
  "service_tier",
  "cache_control",
  "temperature",
  "top_p",
  "top_k"
]

const reasoningFields = {
  enabled: ["type", "budget_tokens", "display"],
  adaptive: ["type", "display"],
  disabled: ["type"]
}

const choiceFields = {
  auto: ["type", "disable_parallel_tool_use"],
  any: ["type", "disable_parallel_tool_use"],
  tool: ["type", "name", "disable_parallel_tool_use"],
  none: ["type"]
}

const toolFields = [
  "type",
  "name",
  "description",
  "input_schema",
  "strict",
  "cache_control",
  "allowed_callers",
  "defer_loading",
  "eager_input_streaming",
  "input_examples"
]
