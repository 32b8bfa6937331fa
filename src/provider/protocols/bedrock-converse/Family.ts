/** What the makers' models do differently behind the one format, read off the id that the service gives each of them. */
export interface Family {
  readonly isClaude: boolean
  /** How an effort is asked for. */
  readonly effort: "thinking" | "reasoning" | "reasoning_effort" | "reasoningConfig" | "outputConfig"
  /** Takes explicit cache points; elsewhere one of them fails the call. */
  readonly cachePoints: boolean
  /** Takes the status of a tool's result. */
  readonly resultStatus: boolean
}

/** A profile of one's own hides its model: only what the format itself defines is used. */
export const familyOf = (upstreamModel: string): Family =>
  families.find(([pattern]) => pattern.test(upstreamModel))?.[1] ?? unknown

const unknown: Family = { isClaude: false, effort: "outputConfig", cachePoints: false, resultStatus: false }

/** Ids are `maker.model`, with a region before them or an ARN around them. */
const families: ReadonlyArray<readonly [RegExp, Family]> = [
  [/(?:^|[./])anthropic\./, { isClaude: true, effort: "thinking", cachePoints: true, resultStatus: true }],
  [/(?:^|[./])amazon\.nova/, { ...unknown, effort: "reasoningConfig", resultStatus: true }],
  [/(?:^|[./])openai\.gpt-\d/, { ...unknown, effort: "reasoning" }],
  [/(?:^|[./])(?:openai\.gpt-oss|moonshotai\.|moonshot\.|xai\.)/, { ...unknown, effort: "reasoning_effort" }]
]
