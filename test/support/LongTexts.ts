import * as fc from "fast-check"

const pieces = [
  '"',
  "\\",
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "x",
  "/",
  "\n",
  "\t",
  "\u0000",
  "ü",
  "語",
  "🙂",
  "\ud83d",
  "\ude42"
]

/** Text that is hard on who looks for the end of a string, from none to 40,000 characters. */
export const awkwardText = fc
  .tuple(fc.array(fc.constantFrom(...pieces), { maxLength: 40 }), fc.constantFrom(1, 1, 2, 30, 200, 1_000))
  .map(([parts, times]) => parts.join("").repeat(times))

const names = fc.oneof(
  fc.constantFrom("a", "b", "7", "__proto__", "toJSON", "constructor", '"', "語"),
  awkwardText.filter((text) => text.length > 2_000)
)

/** JSON values with such texts as values and as names. */
export const awkwardJson = fc.letrec<{ value: unknown; list: ReadonlyArray<unknown>; object: object }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    awkwardText,
    fc.constantFrom(null, true, -0.5, 7, 2 ** 52),
    tie("list"),
    tie("object")
  ),
  list: fc.array(tie("value"), { maxLength: 6 }),
  object: fc
    .array(fc.tuple(names, tie("value")), { maxLength: 5 })
    // what JSON.parse makes of such members: also `__proto__` is one of the object itself
    .map((members) => Object.defineProperties({}, membersOf(members)))
})).value

const membersOf = (members: ReadonlyArray<readonly [string, unknown]>): PropertyDescriptorMap => {
  const made: Record<string, PropertyDescriptor> = Object.create(null)
  for (const [name, value] of members) made[name] = { value, enumerable: true, writable: true, configurable: true }
  return made
}

/** Escapes that a client may write and the gateway would not. */
export const withOddEscapes = (literal: string): string => literal.replaceAll("/", "\\/").replaceAll("x", "\\u0078")
