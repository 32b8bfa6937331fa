/** What the models of one name and generation take. */
export interface Claude {
  readonly name: string
  readonly outputTokens: number
  readonly takesSampling: boolean
  readonly thinksByBudget: boolean
  readonly thinksAdaptively: boolean
  readonly thinksUnasked: boolean
  readonly canBeToldNotToThink: boolean
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
    thinksByBudget: version < 4.7,
    thinksAdaptively: version >= 4.6,
    thinksUnasked: version >= 5,
    canBeToldNotToThink: family !== "fable" && (version < 4.7 || version >= 5)
  }
}
