/** Differences between model families behind the common format, derived from the model id. */
export interface Family {
  readonly isClaude: boolean
  /** The field that carries a reasoning effort. */
  readonly effort: "thinking" | "reasoning" | "reasoning_effort" | "reasoningConfig" | "outputConfig"
  /** Supports explicit cache points; for other families a cache point fails the call. */
  readonly cachePoints: boolean
  /** Supports the status of a tool result. */
  readonly resultStatus: boolean
}

/** The id of an application inference profile hides the model: only fields that the format itself defines are then used. */
export const familyOf = (upstreamModel: string): Family =>
  families.find(([pattern]) => pattern.test(upstreamModel))?.[1] ?? unknown

const unknown: Family = { isClaude: false, effort: "outputConfig", cachePoints: false, resultStatus: false }

/** Ids are `vendor.model`, optionally with a region prefix or inside an ARN. */
const families: ReadonlyArray<readonly [RegExp, Family]> = [
  [/(?:^|[./])anthropic\./, { isClaude: true, effort: "thinking", cachePoints: true, resultStatus: true }],
  [/(?:^|[./])amazon\.nova/, { ...unknown, effort: "reasoningConfig", resultStatus: true }],
  [/(?:^|[./])openai\.gpt-\d/, { ...unknown, effort: "reasoning" }],
  [/(?:^|[./])(?:openai\.gpt-oss|moonshotai\.|moonshot\.|xai\.)/, { ...unknown, effort: "reasoning_effort" }]
]
