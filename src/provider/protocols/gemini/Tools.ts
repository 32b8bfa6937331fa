import type { JsonObject } from "../../../domain/Chat.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import type { ToolNames } from "../shared/ToolNames.ts"
import type { ToolSelection, ToolSet } from "../shared/Tools.ts"
import { openApiParameters } from "./FunctionParameters.ts"
import { type Copies, jsonSchema, type SchemaDialect, schemaTooLarge } from "./Schema.ts"

export interface LoweredTools {
  readonly tools: ReadonlyArray<JsonObject> | undefined
  readonly choice: JsonObject | undefined
}

export const lowerTools = (
  { choice, tools }: ToolSet,
  names: ToolNames,
  schemas: SchemaDialect,
  copies: Copies
): LoweredTools | ProviderFailure => {
  if (tools.length === 0) return { tools: undefined, choice: lowerChoice(choice, names) }
  const functionDeclarations: Array<JsonObject> = []
  for (const { description, name, parameters } of tools) {
    const declared = { name: names.toProvider(name), description }
    if (schemas === "json") {
      functionDeclarations.push({ ...declared, parametersJsonSchema: jsonSchema(parameters, besideReference) })
      continue
    }
    const schema = openApiParameters(parameters, copies)
    if (schema === undefined) return schemaTooLarge("tools")
    // the API rejects an object without properties: a function without parameters is declared without `parameters`
    functionDeclarations.push("properties" in schema ? { ...declared, parameters: schema } : declared)
  }
  return { tools: [{ functionDeclarations }], choice: lowerChoice(choice, names) }
}

/** Parameters may be described where they are used; other schemas may not. */
const besideReference: ReadonlySet<string> = new Set(["description", "default"])

const lowerChoice = (choice: ToolSelection | undefined, names: ToolNames): JsonObject | undefined => {
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
