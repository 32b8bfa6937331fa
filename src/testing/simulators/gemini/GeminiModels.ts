/** The capabilities of the models of one name and generation. */
export interface Gemini {
  readonly name: string
  readonly reasonsByDefault: boolean
  readonly mustReason: boolean
  readonly takesLevel: boolean
  /** Rejects calls of the current turn without their signature. */
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
    reasonsByDefault: isNew || kind !== "flash-lite",
    mustReason: isNew || kind === "pro",
    takesLevel: isNew,
    wantsSignatures: isNew
  }
}
