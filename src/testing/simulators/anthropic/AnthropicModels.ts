/** The capabilities of the models of one name and generation. */
export interface Claude {
  readonly name: string
  readonly outputTokens: number
  readonly takesSampling: boolean
  readonly takesBudget: boolean
  readonly reasonsAdaptively: boolean
  readonly reasonsByDefault: boolean
  readonly canDisableReasoning: boolean
  /** Among the messages, not only before them. */
  readonly takesSystemMessages: boolean
}

/** `claude-<family>-<generation>[-<minor>]`, a date after it allowed; `undefined` for any other name. */
export const claudeOf = (name: string): Claude | undefined => {
  const parts = /^claude-(haiku|sonnet|opus|fable)-(\d)(?:-(\d))?(?:-\d{8})?$/.exec(name)
  if (parts === null) return undefined
  const [, family, generation, minor = "0"] = parts
  const version = Number(generation) + Number(minor) / 10
  return {
    name,
    outputTokens: version < 4.6 ? 64_000 : 128_000,
    takesSampling: version < 4.7,
    takesBudget: version < 4.7,
    reasonsAdaptively: version >= 4.6,
    reasonsByDefault: version >= 5,
    canDisableReasoning: family !== "fable" && (version < 4.7 || version >= 5),
    takesSystemMessages: family === "opus" ? version >= 4.8 : family === "fable"
  }
}
