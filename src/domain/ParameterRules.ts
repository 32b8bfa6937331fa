/** What the API of a provider rejects of parameters that it takes. */
export interface ParameterRules {
  /** Longer ids of users, and longer keys of cached prompts. */
  readonly maxIdCharacters: number
}
