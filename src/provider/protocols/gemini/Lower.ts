import type { ChatRequest, Effort, JsonObject } from "../../../domain/Chat.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { objectAt, textAt } from "../../Json.ts"
import type { ProviderCall } from "../../Provider.ts"
import { thinkingBudget } from "../../ThinkingBudget.ts"
import { type ToolNames, toolNamesOf } from "../turns/ToolNames.ts"
import { type OfferedChoice, type OfferedTool, offerOf } from "../turns/Tools.ts"
import { conversationOf } from "../turns/Turns.ts"
import { contentsOf } from "./Contents.ts"
import { Copies, jsonSchema, openApiSchema, type SchemaDialect } from "./Schema.ts"

/** The upstream body, its fields always in this order. */
export const lower = (call: ProviderCall, schemas: SchemaDialect): string | ProviderFailure => {
  const conversation = conversationOf(call.request, call.model.id)
  if ("_tag" in conversation) return conversation
  const offer = offerOf(call.request)
  if ("_tag" in offer) return offer
  const names = toolNamesOf(call.request)
  const contents = contentsOf(conversation.turns, call, names)
  if ("_tag" in contents) return contents
  const copies = new Copies()
  const tools = lowerTools(offer.tools, names, schemas, copies)
  if (tools !== undefined && "_tag" in tools) return tools
  const config = generationConfig(call, schemas, copies)
  if ("_tag" in config) return config
  return JSON.stringify({
    contents: contents.contents,
    systemInstruction:
      conversation.instructions.length === 0
        ? undefined
        : { parts: conversation.instructions.map(({ text }) => ({ text })) },
    tools: tools === undefined ? undefined : [tools],
    toolConfig: lowerChoice(offer.choice, names),
    generationConfig: config.fields
  })
}

// Tools

const lowerTools = (
  tools: ReadonlyArray<OfferedTool>,
  names: ToolNames,
  schemas: SchemaDialect,
  copies: Copies
): { readonly functionDeclarations: ReadonlyArray<JsonObject> } | ProviderFailure | undefined => {
  if (tools.length === 0) return undefined
  const functionDeclarations: Array<JsonObject> = []
  for (const { description, name, parameters } of tools) {
    const declared = { name: names.toProvider(name), description }
    if (schemas === "json") {
      functionDeclarations.push({ ...declared, parametersJsonSchema: jsonSchema(parameters) })
      continue
    }
    const schema = openApiSchema(parameters, copies)
    if (schema === undefined) return tooLarge("tools")
    // an object without properties is refused: no parameters are said by saying nothing
    functionDeclarations.push("properties" in schema ? { ...declared, parameters: schema } : declared)
  }
  return { functionDeclarations }
}

const tooLarge = (param: string): ProviderFailure => ({
  _tag: "RequestRejected",
  message: "A JSON schema is too large once its references are resolved.",
  param
})

const lowerChoice = (choice: OfferedChoice | undefined, names: ToolNames): JsonObject | undefined => {
  switch (choice?._tag) {
    case undefined:
      return undefined
    case "Auto":
      return { functionCallingConfig: { mode: "AUTO" } }
    case "None":
      return { functionCallingConfig: { mode: "NONE" } }
    case "Required":
      return { functionCallingConfig: { mode: "ANY" } }
    case "Tool":
      return { functionCallingConfig: { mode: "ANY", allowedFunctionNames: [names.toProvider(choice.name)] } }
  }
}

// Output

/** More are refused. */
const mostStopSequences = 5

interface Fields {
  readonly fields: JsonObject
}

const generationConfig = (call: ProviderCall, schemas: SchemaDialect, copies: Copies): Fields | ProviderFailure => {
  const { request } = call
  const takes = (parameter: string): boolean => !call.dropped.includes(parameter)
  if (takes("stop") && request.stop.length > mostStopSequences) {
    return {
      _tag: "RequestRejected",
      message: `The provider takes at most ${mostStopSequences} stop sequences.`,
      param: "stop"
    }
  }
  const format = responseFormat(request.responseFormat, schemas, copies)
  if ("_tag" in format) return format
  const config: Record<string, unknown> = { maxOutputTokens: call.maxOutputTokens }
  const set = (field: string, value: unknown, parameter: string): void => {
    if (value !== undefined && takes(parameter)) config[field] = value
  }
  set("temperature", request.temperature, "temperature")
  set("topP", request.topP, "top_p")
  set("stopSequences", request.stop.length === 0 ? undefined : request.stop, "stop")
  set("frequencyPenalty", request.frequencyPenalty, "frequency_penalty")
  set("presencePenalty", request.presencePenalty, "presence_penalty")
  set("seed", request.seed, "seed")
  set("responseLogprobs", request.logprobs === true ? true : undefined, "logprobs")
  set("logprobs", topLogprobs(request), "top_logprobs")
  for (const [field, value] of Object.entries(format.fields)) config[field] = value
  set("thinkingConfig", thinkingConfig(call), "reasoning_effort")
  return { fields: config }
}

/** Alternatives can only be asked for together with the tokens themselves. */
const topLogprobs = ({ logprobs, topLogprobs }: ChatRequest): number | undefined =>
  logprobs === true && topLogprobs !== undefined && topLogprobs > 0 ? topLogprobs : undefined

const responseFormat = (
  format: JsonObject | undefined,
  schemas: SchemaDialect,
  copies: Copies
): Fields | ProviderFailure => {
  if (format === undefined || (format["type"] !== "json_object" && format["type"] !== "json_schema"))
    return { fields: {} }
  const responseMimeType = "application/json"
  const asked = objectAt(format, "json_schema")
  const schema = objectAt(asked, "schema")
  if (format["type"] === "json_object" || schema === undefined) return { fields: { responseMimeType } }
  const description = textAt(asked, "description")
  const described = description === undefined || "description" in schema ? schema : { ...schema, description }
  if (schemas === "json") return { fields: { responseMimeType, responseJsonSchema: jsonSchema(described) } }
  const responseSchema = openApiSchema(described, copies)
  return responseSchema === undefined ? tooLarge("response_format") : { fields: { responseMimeType, responseSchema } }
}

/** Thoughts may only be asked for where there will be some. */
const thinkingConfig = (call: ProviderCall): JsonObject | undefined => {
  const { effort, model, request } = call
  if (model.reasoning === null) return undefined
  const thinks =
    effort === "none"
      ? model.reasoning.mandatory
      : effort !== undefined || request.reasoning.maxTokens !== undefined || model.reasonsByDefault
  const includeThoughts = thinks && !request.reasoning.exclude ? { includeThoughts: true } : {}
  const config = { ...askedThinking(call), ...includeThoughts }
  return Object.keys(config).length === 0 ? undefined : config
}

const askedThinking = ({ effort, maxOutputTokens, model, request }: ProviderCall): JsonObject => {
  const reasoning = model.reasoning
  if (reasoning === null || reasoning.style === "fixed") return {}
  const range = reasoning.budget
  if (typeof effort === "number") {
    const tokens = (maxOutputTokens * effort) / deepest
    return { thinkingBudget: thinkingBudget({ effort: undefined, tokens, maxOutputTokens, range }) }
  }
  if (reasoning.style === "effort") return effort === undefined ? {} : { thinkingLevel: levels[effort] }
  if (effort === "none") return { thinkingBudget: reasoning.mandatory ? (range?.min ?? 1) : 0 }
  if (reasoning.style === "toggle") return effort === undefined ? {} : { thinkingBudget: automaticBudget }
  const tokens = request.reasoning.maxTokens
  if (effort === undefined && tokens === undefined) return {}
  return { thinkingBudget: thinkingBudget({ effort, tokens, maxOutputTokens, range }) }
}

/** A reasoning depth is the share of the output cap that may be thought. */
const deepest = 100

/** The model decides how much. */
const automaticBudget = -1

const levels: Readonly<Record<Effort, string>> = {
  none: "MINIMAL",
  minimal: "MINIMAL",
  low: "LOW",
  medium: "MEDIUM",
  high: "HIGH",
  xhigh: "HIGH",
  max: "HIGH"
}
