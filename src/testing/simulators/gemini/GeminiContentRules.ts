import { isObject, type Json, listAt, objectAt, textAt } from "../../../provider/protocols/shared/Json.ts"
import { first, unknownField } from "./GeminiFields.ts"
import type { Gemini } from "./GeminiModels.ts"
import { isSigned, standIn } from "./GeminiSignatures.ts"

/** The documented pattern of function names. */
export const functionName = /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/

const partFields = [
  "text",
  "thought",
  "thoughtSignature",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "videoMetadata",
  "mediaResolution"
]

export const faultOfContents = (contents: unknown, gemini: Gemini): string | undefined => {
  if (!Array.isArray(contents) || contents.length === 0) return "contents is not specified"
  const given = contents.filter(isObject)
  if (given.length < contents.length) return "Invalid value at 'contents'"
  return first(given, faultOfContent) ?? faultOfTurns(merged(given), gemini)
}

const faultOfContent = (content: Json, at: number): string | undefined => {
  const { role } = content
  if (role !== "user" && role !== "model") return "Please use a valid role: user, model."
  const parts = listAt(content, "parts").filter(isObject)
  if (parts.length === 0) return `contents[${at}].parts: must not be empty`
  return (
    unknownField(content, ["role", "parts"], `contents[${at}]`) ??
    first(parts, (part, index) => faultOfPart(part, role, `contents[${at}].parts[${index}]`))
  )
}

/** Contents of one role in a row are one turn: the official client sends each chunk of a stream back as a content. */
const merged = (contents: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const turns: Array<Json> = []
  for (const content of contents) {
    const last = turns.at(-1)
    const parts = listAt(content, "parts")
    if (last?.["role"] === content["role"])
      turns.splice(-1, 1, { ...last, parts: [...listAt(last, "parts"), ...parts] })
    else turns.push(content)
  }
  return turns
}

const faultOfTurns = (turns: ReadonlyArray<Json>, gemini: Gemini): string | undefined => {
  /** Signatures are required from the last user turn with content on. */
  const current = turns.findLastIndex((turn) => turn["role"] === "user" && saysSomething(turn))
  return first(turns, (turn, at) => {
    if (turn["role"] === "user") {
      return faultOfResults(callsOf(turns[at - 1]), listAt(turn, "parts").filter(isObject))
    }
    if (callsOf(turn).length === 0) return undefined
    if (at === 0) return "Please ensure that function call turn comes immediately after a user turn."
    return at > current && gemini.wantsSignatures ? unsigned(turn, at) : undefined
  })
}

const saysSomething = (turn: Json): boolean =>
  listAt(turn, "parts").some((part) => isObject(part) && part["functionResponse"] === undefined)

const kinds = ["text", "inlineData", "fileData", "functionCall", "functionResponse"]

const faultOfPart = (part: Json, role: "user" | "model", at: string): string | undefined => {
  const given = kinds.filter((kind) => part[kind] !== undefined)
  const signature = part["thoughtSignature"]
  if (given.length !== 1) return `${at}.data: required oneof field 'data' must have one initialized field`
  if (part["text"] === "" && signature === undefined) return `${at}.text: must not be empty`
  if (part["functionCall"] !== undefined && role !== "model") return `${at}: a function call of the user`
  if (part["functionResponse"] !== undefined && role !== "user") return `${at}: a function response of the model`
  if (signature !== undefined && signature !== standIn) {
    if (typeof signature !== "string" || !/^[A-Za-z0-9+/_-]+=*$/.test(signature)) {
      return `Invalid value at '${at}.thought_signature' (TYPE_BYTES), Base64 decoding failed`
    }
    if (!isSigned(part, signature)) return "Thought signature is not valid."
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

const objectsAt = (parts: ReadonlyArray<Json>, key: string): ReadonlyArray<Json> =>
  parts.map((part) => part[key]).filter(isObject)

const callsOf = (turn: Json | undefined): ReadonlyArray<Json> =>
  objectsAt(listAt(turn, "parts").filter(isObject), "functionCall")

const faultOfResults = (calls: ReadonlyArray<Json>, parts: ReadonlyArray<Json>): string | undefined => {
  const results = objectsAt(parts, "functionResponse")
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
