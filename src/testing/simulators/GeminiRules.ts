import { isObject, type Json, listAt, objectAt, textAt } from "../../provider/Json.ts"
import { faultOfSchema } from "./GeminiSchemaRules.ts"

/** Why the request is refused, in the API's own words where they are known; `undefined` when it is not. */
export const faultOf = (body: Json, isIssued: (signature: string) => boolean): string | undefined =>
  unknownField(body, bodyFields, "") ??
  faultOfInstruction(body["systemInstruction"]) ??
  faultOfTools(body) ??
  faultOfConfig(body["generationConfig"]) ??
  faultOfContents(body["contents"], isIssued)

export const noSignature = "skip_thought_signature_validator"

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
const partFields = [
  "text",
  "thought",
  "thoughtSignature",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "videoMetadata",
  "mediaResolution",
  "executableCode",
  "codeExecutionResult"
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

export const unknownField = (value: Json, fields: ReadonlyArray<string>, at: string): string | undefined => {
  const unknown = Object.keys(value).find((field) => !fields.includes(field))
  if (unknown === undefined) return undefined
  return `Invalid JSON payload received. Unknown name "${unknown}"${at === "" ? "" : ` at '${at}'`}: Cannot find field.`
}

const first = <A>(values: ReadonlyArray<A>, fault: (value: A, at: number) => string | undefined) => {
  for (const [at, value] of values.entries()) {
    const found = fault(value, at)
    if (found !== undefined) return found
  }
  return undefined
}

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

/** As `FunctionDeclaration.name` is documented. */
const functionName = /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/

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
    (parameters === undefined ? undefined : faultOfSchema(parameters, `${at}.parameters`))
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
const levels = ["MINIMAL", "LOW", "MEDIUM", "HIGH"]

const faultOfConfig = (config: unknown): string | undefined => {
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
    first(integers, (field) => badValue(config, field, Number.isInteger)) ??
    badValue(
      config,
      "stopSequences",
      (value) => Array.isArray(value) && value.every((one) => typeof one === "string")
    ) ??
    (responseSchema === undefined ? undefined : faultOfSchema(responseSchema, "generation_config.response_schema")) ??
    faultOfThinking(config["thinkingConfig"])
  )
}

const badValue = (config: Json, field: string, isGood: (value: unknown) => boolean): string | undefined =>
  config[field] === undefined || isGood(config[field]) ? undefined : `Invalid value at 'generation_config.${field}'`

const faultOfThinking = (thinking: unknown): string | undefined => {
  if (thinking === undefined) return undefined
  if (!isObject(thinking)) return "Invalid value at 'generation_config.thinking_config'"
  const { thinkingBudget, thinkingLevel } = thinking
  if (thinkingBudget !== undefined && thinkingLevel !== undefined) {
    return "You can only set one of thinking budget and thinking level."
  }
  if (thinkingLevel !== undefined && !levels.includes(String(thinkingLevel))) {
    return "Invalid value at 'generation_config.thinking_config.thinking_level'"
  }
  if (thinkingBudget !== undefined && !Number.isInteger(thinkingBudget)) {
    return "Invalid value at 'generation_config.thinking_config.thinking_budget'"
  }
  if (thinking["includeThoughts"] === true && thinkingBudget === 0) {
    return "include_thoughts is only enabled when thinking is enabled."
  }
  return unknownField(
    thinking,
    ["includeThoughts", "thinkingBudget", "thinkingLevel"],
    "generation_config.thinking_config"
  )
}

// Contents

const faultOfContents = (contents: unknown, isIssued: (signature: string) => boolean): string | undefined => {
  if (!Array.isArray(contents) || contents.length === 0) return "contents is not specified"
  const turns = contents.filter(isObject)
  if (turns.length < contents.length) return "Invalid value at 'contents'"
  /** Signatures are asked for from the last turn on in which the user has said something. */
  const current = turns.findLastIndex((turn) => turn["role"] === "user" && saysSomething(turn))
  return first(turns, (turn, at) => {
    const { role } = turn
    if (role !== "user" && role !== "model") return "Please use a valid role: user, model."
    const before = turns[at - 1]
    if (before === undefined ? role !== "user" : before["role"] === role) {
      return "Please ensure that multiturn requests alternate between user and model."
    }
    const parts = listAt(turn, "parts").filter(isObject)
    if (parts.length === 0) return `contents[${at}].parts: must not be empty`
    return (
      unknownField(turn, ["role", "parts"], `contents[${at}]`) ??
      first(parts, (part, index) => faultOfPart(part, role, `contents[${at}].parts[${index}]`, isIssued)) ??
      (role === "user" ? faultOfResults(callsOf(before), parts) : undefined) ??
      (role === "model" && callsOf(turns[at]).length > 0 && at > current ? unsigned(turn, at) : undefined)
    )
  })
}

const saysSomething = (turn: Json): boolean =>
  listAt(turn, "parts").some((part) => isObject(part) && part["functionResponse"] === undefined)

const kinds = ["text", "inlineData", "fileData", "functionCall", "functionResponse"]

const faultOfPart = (
  part: Json,
  role: "user" | "model",
  at: string,
  isIssued: (signature: string) => boolean
): string | undefined => {
  const given = kinds.filter((kind) => part[kind] !== undefined)
  const signature = part["thoughtSignature"]
  if (given.length !== 1) return `${at}.data: required oneof field 'data' must have one initialized field`
  if (part["text"] === "" && signature === undefined) return `${at}.text: must not be empty`
  if (part["functionCall"] !== undefined && role !== "model") return `${at}: a function call of the user`
  if (part["functionResponse"] !== undefined && role !== "user") return `${at}: a function response of the model`
  if (signature !== undefined && signature !== noSignature) {
    if (typeof signature !== "string" || !/^[A-Za-z0-9+/_-]+=*$/.test(signature)) {
      return `Invalid value at '${at}.thought_signature' (TYPE_BYTES), Base64 decoding failed`
    }
    if (!isIssued(signature)) return "Thought signature is not valid."
  }
  return (
    unknownField(part, partFields, at) ??
    faultOfBlob(part["inlineData"], at) ??
    faultOfCall(part["functionCall"], at) ??
    faultOfResponse(part["functionResponse"], at)
  )
}

const faultOfBlob = (blob: unknown, at: string): string | undefined => {
  if (blob === undefined) return undefined
  if (!isObject(blob)) return `Invalid value at '${at}.inline_data'`
  const data = textAt(blob, "data") ?? ""
  const isBase64 = data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data)
  if (!isBase64) return `Invalid value at '${at}.inline_data.data' (TYPE_BYTES), Base64 decoding failed`
  if (!/^[a-z]+\/[a-z0-9.+-]+$/.test(textAt(blob, "mimeType") ?? "")) return "Unsupported MIME type"
  return unknownField(blob, ["mimeType", "data"], `${at}.inline_data`)
}

const faultOfCall = (call: unknown, at: string): string | undefined => {
  if (call === undefined) return undefined
  if (!isObject(call) || !functionName.test(textAt(call, "name") ?? "")) return `${at}.function_call.name: invalid`
  if (call["args"] !== undefined && !isObject(call["args"])) return `Invalid value at '${at}.function_call.args'`
  return unknownField(call, ["id", "name", "args"], `${at}.function_call`)
}

const faultOfResponse = (response: unknown, at: string): string | undefined => {
  if (response === undefined) return undefined
  if (!isObject(response) || textAt(response, "name") === undefined) {
    return `${at}.function_response.name: [REQUIRED_FIELD_MISSING]`
  }
  if (!isObject(response["response"])) return `Invalid value at '${at}.function_response.response'`
  return unknownField(response, ["id", "name", "response"], `${at}.function_response`)
}

const callsOf = (turn: Json | undefined): ReadonlyArray<Json> =>
  listAt(turn, "parts").flatMap((part) => (isObject(part) ? (objectAt(part, "functionCall") ?? []) : []))

const faultOfResults = (calls: ReadonlyArray<Json>, parts: ReadonlyArray<Json>): string | undefined => {
  const results = parts.flatMap((part) => objectAt(part, "functionResponse") ?? [])
  if (results.length > 0 && calls.length === 0) {
    return "Please ensure that function response turn comes immediately after a function call turn."
  }
  if (results.length !== calls.length) {
    return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
  }
  return first(results, (result, at) => {
    const call = result["id"] === undefined ? calls[at] : calls.find((one) => one["id"] === result["id"])
    return call !== undefined && call["name"] === result["name"]
      ? undefined
      : "Please ensure that function responses match the function calls of the function call turn."
  })
}

const unsigned = (turn: Json, at: number): string | undefined => {
  const call = listAt(turn, "parts").find((part) => isObject(part) && part["functionCall"] !== undefined)
  return isObject(call) && call["thoughtSignature"] === undefined
    ? `Function call is missing a thought_signature in functionCall parts. Additional data, function call \`default_api:${String(objectAt(call, "functionCall")?.["name"])}\`, position ${at + 1}.`
    : undefined
}
