/** What the API of a provider rejects of parameters that it takes. */
export interface ParameterRules {
  /** Longer ids of users, and longer keys of cached prompts. */
  readonly maxIdCharacters: number
  /**
   * OpenAI's own API: `stop` where a model reasons, `parallel_tool_calls` at its o-series, `verbosity` other than `medium` before gpt-5,
   * `strict` beside a schema outside of the subset that it enforces, and more than 128 tools.
   */
  readonly isOpenAi: boolean
  /** `strict` of some tools and not of others. */
  readonly isStrictUniform?: boolean
}
