import { type Claude, claudeOf } from "./AnthropicModels.ts"

/** What the models of one maker take. */
export interface BedrockModel {
  readonly id: string
  readonly claude: Claude | undefined
  /** Fields of the maker's own. */
  readonly additionalFields: ReadonlyArray<string>
  readonly takesSampling: boolean
  /** Also what a forced choice and the status of a result are taken by. */
  readonly isOfTools: boolean
}

/** `undefined` for an id that the service does not have. */
export const modelOf = (id: string): BedrockModel | undefined => {
  const name = /^(?:(?:us|eu|apac|jp|au|global|us-gov)\.)?([a-z0-9]+)\.(.+)$/.exec(id)
  const [, maker, model] = name ?? []
  if (maker === undefined || model === undefined) return undefined
  if (maker === "anthropic") {
    const claude = claudeOf(model.replace(/-v\d+(?::\d+)?$/, ""))
    if (claude === undefined) return undefined
    return { id, claude, additionalFields: ["thinking"], takesSampling: claude.takesSampling, isOfTools: true }
  }
  const bare = { id, claude: undefined, takesSampling: true, isOfTools: false }
  switch (maker) {
    case "amazon":
      return { ...bare, additionalFields: model.startsWith("nova-2") ? ["reasoningConfig"] : [], isOfTools: true }
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
