/** What the models of one name and generation take. */
export interface Gemini {
  readonly name: string
  readonly thinksUnasked: boolean
  readonly alwaysThinks: boolean
  readonly takesLevel: boolean
  /** Refuses calls of the current turn that come back without their signature. */
  readonly wantsSignatures: boolean
}

/** `gemini-<generation>[.<minor>]-<kind>`, a suffix after it allowed; `undefined` for any other name. */
export const geminiOf = (name: string): Gemini | undefined => {
  const parts = /^gemini-(\d)(?:\.(\d))?-(pro|flash-lite|flash)(?:-[a-z0-9-]+)?$/.exec(name)
  if (parts === null) return undefined
  const [, generation, minor = "0", kind] = parts
  const version = Number(generation) + Number(minor) / 10
  if (version < 2.5) return undefined
  const isNew = version >= 3
  return {
    name,
    thinksUnasked: isNew || kind !== "flash-lite",
    alwaysThinks: isNew || kind === "pro",
    takesLevel: isNew,
    wantsSignatures: isNew
  }
}
