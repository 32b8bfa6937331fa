import { isObject, type Json, listAt, objectAt, textAt } from "../../../provider/protocols/shared/Json.ts"
import { bodyOf } from "../core/RequestBody.ts"
import type { SimulatedRequest } from "../core/Simulator.ts"
import { faultOfContents, functionName } from "./GeminiContentRules.ts"
import { first, unknownField } from "./GeminiFields.ts"
import { type Gemini, geminiOf } from "./GeminiModels.ts"
import { faultOfReferences, faultOfSchema } from "./GeminiSchemaRules.ts"

export interface Rejection {
  readonly code: number
  readonly status: string
  readonly message: string
  readonly details?: ReadonlyArray<Json>
}

/** A valid request. */
export interface Accepted {
  readonly body: Json
  readonly gemini: Gemini
  /** The requested form of the response. */
  readonly form: "complete" | "events" | "list"
  readonly reasons: boolean
}

/** What is wrong with a request, if anything: by the documented types of the API, and by reported refusals. */
export const rejectedBy = (request: SimulatedRequest): Accepted | { readonly rejection: Rejection } => {
  const target = targetOf(request)
  if (target === undefined) return reject(404, "NOT_FOUND", "Requested entity was not found.")
  if (request.headers["x-goog-api-key"] === undefined && request.headers.authorization === undefined) {
    return reject(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers.")
  }
  const gemini = geminiOf(target.model)
  if (gemini === undefined)
    return reject(404, "NOT_FOUND", `models/${target.model} is not found for API version v1beta.`)
  const body = bodyOf(request)
  if (body === undefined) return invalid("Invalid JSON payload received.")
  const fault =
    unknownField(body, bodyFields, "") ??
    faultOfInstruction(body["systemInstruction"]) ??
    faultOfTools(body) ??
    faultOfConfig(body["generationConfig"], gemini) ??
    faultOfContents(body["contents"], gemini)
  return fault === undefined ? { body, gemini, form: target.form, reasons: isReasoning(body, gemini) } : invalid(fault)
}

const reject = (code: number, status: string, message: string) => ({ rejection: { code, status, message } })

const invalid = (message: string) => reject(400, "INVALID_ARGUMENT", message)

const targetOf = ({ headers, method, path }: SimulatedRequest) => {
  const [pathname = "", query = ""] = path.split("?", 2)
  const [, model, verb] = /^\/v1beta\/models\/([^/:]+):(generateContent|streamGenerateContent)$/.exec(pathname) ?? []
  if (method !== "POST" || model === undefined || headers["content-type"] !== "application/json") return undefined
  const form = verb === "generateContent" ? "complete" : query === "alt=sse" ? "events" : "list"
  return { model: decodeURIComponent(model), form } as const
}

const isReasoning = (body: Json, gemini: Gemini): boolean => {
  const thinkingConfig = objectAt(objectAt(body, "generationConfig"), "thinkingConfig")
  if (thinkingConfig?.["thinkingBudget"] === undefined)
    return gemini.reasonsByDefault || thinkingConfig?.["thinkingLevel"] !== undefined
  return thinkingConfig["thinkingBudget"] !== 0
}

// Fields

const bodyFields = [
  "contents",
  "systemInstruction",
  "tools",
  "toolConfig",
  "generationConfig",
  "safetySettings",
  "cachedContent",
  "serviceTier",
  "labels"
]
const configFields = [
  "temperature",
  "topP",
  "topK",
  "candidateCount",
  "maxOutputTokens",
  "stopSequences",
  "seed",
  "presencePenalty",
  "frequencyPenalty",
  "responseMimeType",
  "responseSchema",
  "responseJsonSchema",
  "responseLogprobs",
  "logprobs",
  "thinkingConfig",
  "responseModalities",
  "speechConfig",
  "mediaResolution"
]

// Instructions

const faultOfInstruction = (instruction: unknown): string | undefined => {
  if (instruction === undefined) return undefined
  if (!isObject(instruction)) return "Invalid value at 'system_instruction'"
  const parts = listAt(instruction, "parts")
  return (
    unknownField(instruction, ["role", "parts"], "system_instruction") ??
    (parts.length === 0 ? "system_instruction.parts: must not be empty" : undefined) ??
    first(parts, (part) =>
      isObject(part) && textAt(part, "text") !== undefined ? undefined : "system_instruction.parts: must be text"
    )
  )
}

// Tools

const faultOfTools = (body: Json): string | undefined => {
  const declared: Array<string> = []
  return (
    first(listAt(body, "tools"), (tool, at) => {
      if (!isObject(tool)) return `Invalid value at 'tools[${at}]'`
      return (
        unknownField(tool, ["functionDeclarations"], `tools[${at}]`) ??
        first(listAt(tool, "functionDeclarations"), (declaration, index) => {
          if (!isObject(declaration)) return `Invalid value at 'tools[${at}].function_declarations[${index}]'`
          declared.push(String(declaration["name"]))
          return faultOfDeclaration(declaration, `tools[${at}].function_declarations[${index}]`)
        })
      )
    }) ??
    (new Set(declared).size < declared.length ? "Duplicate function declaration found" : undefined) ??
    faultOfChoice(body["toolConfig"], declared)
  )
}

const faultOfDeclaration = (declaration: Json, at: string): string | undefined => {
  const { name, parameters } = declaration
  if (typeof name !== "string" || !functionName.test(name)) {
    return `${at}.name: Invalid function name. Must start with a letter or an underscore.`
  }
  if (parameters !== undefined && declaration["parametersJsonSchema"] !== undefined) {
    return `${at}: parameters and parameters_json_schema are mutually exclusive`
  }
  return (
    unknownField(declaration, ["name", "description", "parameters", "parametersJsonSchema"], at) ??
    (parameters === undefined ? undefined : faultOfSchema(parameters, `${at}.parameters`)) ??
    faultOfReferences(declaration["parametersJsonSchema"], ["description", "default"], `${at}.parameters_json_schema`)
  )
}

const modes = ["AUTO", "ANY", "NONE", "VALIDATED"]

const faultOfChoice = (toolConfig: unknown, declared: ReadonlyArray<string>): string | undefined => {
  if (toolConfig === undefined) return undefined
  const config = isObject(toolConfig) ? objectAt(toolConfig, "functionCallingConfig") : undefined
  if (config === undefined || !isObject(toolConfig)) return "Invalid value at 'tool_config'"
  const names = listAt(config, "allowedFunctionNames")
  const at = "tool_config.function_calling_config"
  if (!modes.includes(String(config["mode"]))) return `Invalid value at '${at}.mode'`
  if (config["mode"] !== "ANY" && config["mode"] !== "VALIDATED" && names.length > 0) {
    return `${at}.allowed_function_names: only set when the function calling mode is ANY`
  }
  if (config["mode"] === "ANY" && declared.length === 0) return `${at}: no functions are declared`
  return (
    unknownField(toolConfig, ["functionCallingConfig"], "tool_config") ??
    unknownField(config, ["mode", "allowedFunctionNames"], at) ??
    first(names, (name) => (declared.includes(String(name)) ? undefined : `${at}: ${String(name)} is not declared`))
  )
}

// Output

const numbers = ["temperature", "topP", "presencePenalty", "frequencyPenalty"]
const integers = ["topK", "candidateCount", "maxOutputTokens", "seed", "logprobs"]
const isInt32 = (value: unknown): boolean => typeof value === "number" && (value | 0) === value
/** The documented ranges. */
const ranges = {
  temperature: [0, 2],
  topP: [0, 1],
  maxOutputTokens: [1, Number.MAX_SAFE_INTEGER],
  candidateCount: [1, 8]
} as const
const maxStopSequences = 5
const levels = ["MINIMAL", "LOW", "MEDIUM", "HIGH"]

const faultOfConfig = (config: unknown, gemini: Gemini): string | undefined => {
  if (config === undefined) return undefined
  if (!isObject(config)) return "Invalid value at 'generation_config'"
  const { logprobs, responseJsonSchema, responseMimeType, responseSchema } = config
  if ((responseSchema ?? responseJsonSchema) !== undefined && responseMimeType !== "application/json") {
    return "generation_config.response_mime_type: a response schema needs application/json"
  }
  if (responseSchema !== undefined && responseJsonSchema !== undefined) {
    return "generation_config: response_schema and response_json_schema are mutually exclusive"
  }
  if (logprobs !== undefined && config["responseLogprobs"] !== true) {
    return "generation_config.logprobs: only with response_logprobs"
  }
  return (
    unknownField(config, configFields, "generation_config") ??
    first(numbers, (field) => badValue(config, field, (value) => typeof value === "number")) ??
    first(integers, (field) => badValue(config, field, isInt32)) ??
    first(Object.entries(ranges), ([field, [min, max]]) =>
      badValue(config, field, (value) => Number(value) >= min && Number(value) <= max)
    ) ??
    badValue(
      config,
      "stopSequences",
      (value) =>
        Array.isArray(value) && value.length <= maxStopSequences && value.every((one) => typeof one === "string")
    ) ??
    (responseSchema === undefined ? undefined : faultOfSchema(responseSchema, "generation_config.response_schema")) ??
    faultOfReferences(responseJsonSchema, [], "generation_config.response_json_schema") ??
    faultOfReasoning(config["thinkingConfig"], gemini)
  )
}

const badValue = (config: Json, field: string, isGood: (value: unknown) => boolean): string | undefined =>
  config[field] === undefined || isGood(config[field]) ? undefined : `Invalid value at 'generation_config.${field}'`

const faultOfReasoning = (thinkingConfig: unknown, gemini: Gemini): string | undefined => {
  if (thinkingConfig === undefined) return undefined
  if (!isObject(thinkingConfig)) return "Invalid value at 'generation_config.thinking_config'"
  const { thinkingBudget, thinkingLevel } = thinkingConfig
  if (thinkingBudget !== undefined && thinkingLevel !== undefined) {
    return "You can only set one of thinking budget and thinking level."
  }
  if (thinkingLevel !== undefined && !gemini.takesLevel) return "Thinking level is not supported for this model."
  if (thinkingLevel !== undefined && !levels.includes(String(thinkingLevel))) {
    return "Invalid value at 'generation_config.thinking_config.thinking_level'"
  }
  if (thinkingBudget !== undefined && !Number.isInteger(thinkingBudget)) {
    return "Invalid value at 'generation_config.thinking_config.thinking_budget'"
  }
  if (thinkingBudget === 0 && gemini.mustReason) return "Budget 0 is invalid. This model only works in thinking mode."
  if (thinkingConfig["includeThoughts"] === true && thinkingBudget === 0) {
    return "include_thoughts is only enabled when thinking is enabled."
  }
  return unknownField(
    thinkingConfig,
    ["includeThoughts", "thinkingBudget", "thinkingLevel"],
    "generation_config.thinking_config"
  )
}
