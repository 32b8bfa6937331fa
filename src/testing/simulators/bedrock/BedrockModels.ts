import { type Claude, claudeOf } from "../anthropic/AnthropicModels.ts"

/** The capabilities of the models of one vendor. */
export interface BedrockModel {
  readonly id: string
  readonly claude: Claude | undefined
  /** Vendor-specific fields. */
  readonly additionalFields: ReadonlyArray<string>
  readonly takesSampling: boolean
  /** Supports a forced tool choice and the status of a tool result. */
  readonly forcesTools: boolean
}

/** `undefined` for an unknown id. */
export const modelOf = (id: string): BedrockModel | undefined => {
  const name = /^(?:(?:us|eu|apac|jp|au|global|us-gov)\.)?([a-z0-9]+)\.(.+)$/.exec(id)
  const [, maker, model] = name ?? []
  if (maker === undefined || model === undefined) return undefined
  if (maker === "anthropic") {
    const claude = claudeOf(model.replace(/-v\d+(?::\d+)?$/, ""))
    if (claude === undefined) return undefined
    const additionalFields = claude.takesSampling ? ["thinking", "top_k"] : ["thinking"]
    return { id, claude, additionalFields, takesSampling: claude.takesSampling, forcesTools: true }
  }
  const bare = { id, claude: undefined, takesSampling: true, forcesTools: false }
  switch (maker) {
    case "amazon":
      return { ...bare, additionalFields: model.startsWith("nova-2") ? ["reasoningConfig"] : [], forcesTools: true }
    case "openai":
      return model.startsWith("gpt-oss")
        ? { ...bare, additionalFields: ["reasoning_effort"] }
        : { ...bare, additionalFields: ["reasoning"], takesSampling: false }
    case "moonshotai":
    case "moonshot":
    case "xai":
      return { ...bare, additionalFields: ["reasoning_effort"] }
    default:
      return { ...bare, additionalFields: [] }
  }
}
