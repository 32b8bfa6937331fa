import * as Schema from "effect/Schema"
import { maxExplorationShare } from "../domain/ExplorationShare.ts"
import {
  attemptsBounds,
  type Bounds,
  boundsText,
  callDaysBounds,
  countBounds,
  isWithin,
  millisBounds,
  millisOrZeroBounds
} from "../domain/OptionIssues.ts"

/** The kinds of value in the configuration file. Titles complete the sentence "must be …". */

export const Text = Schema.String.pipe(Schema.minLength(1), Schema.maxLength(300)).annotations({
  title: "a string of 1 to 300 characters"
})

export const Flag = Schema.Boolean.annotations({ title: "true or false" })

const integer = (bounds: Bounds) => {
  const title = boundsText(bounds)
  return Schema.Number.annotations({ title }).pipe(Schema.filter((value) => isWithin(bounds, value), { title }))
}

/** Micro-USD per million tokens: 1 000 000 is one dollar. A trillion is a million dollars, more than any typing error. */
export const Price = integer({ min: 0, max: 1_000_000_000_000, unit: "micro-USD" })

export const Tokens = integer({ min: 1, max: 1_000_000_000, unit: "tokens" })

export const TokensOrZero = integer({ min: 0, max: 1_000_000_000, unit: "tokens" })

export const Count = integer(countBounds)

export const Millis = integer(millisBounds)

export const MillisOrZero = integer(millisOrZeroBounds)

export const Attempts = integer(attemptsBounds)

export const RetentionDays = integer(callDaysBounds)

export const Depth = integer({ min: 1, max: 100 })

export const Fraction = Schema.Number.annotations({ title: "a number from 0 to 1" }).pipe(
  Schema.filter((value) => value >= 0 && value <= 1, { title: "a number from 0 to 1" })
)

export const ExplorationShare = Schema.Number.annotations({ title: `a number from 0 to ${maxExplorationShare}` }).pipe(
  Schema.filter((value) => value >= 0 && value <= maxExplorationShare, {
    title: `a number from 0 to ${maxExplorationShare}`
  })
)

export const ProviderId = Schema.String.annotations({ title: "a provider id" }).pipe(
  Schema.pattern(/^[a-z0-9][a-z0-9._-]{0,62}$/, {
    title: "1 to 63 characters of a-z, 0-9, '.', '_' and '-', the first a letter or digit"
  })
)

export const ModelId = Schema.String.annotations({ title: "a model id" }).pipe(
  Schema.pattern(/^[^/\s]{1,63}\/\S{1,200}$/, { title: "a model id of the form <provider>/<model>" })
)

export const Slug = Schema.String.annotations({ title: "a slug" }).pipe(
  Schema.pattern(/^[a-z0-9-]{1,120}$/, { title: "1 to 120 characters of a-z, 0-9 and '-'" })
)

export const VariableName = Schema.String.annotations({ title: "the name of an environment variable" }).pipe(
  Schema.pattern(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/, { title: "the name of an environment variable" })
)

const withoutTrailingSlashes = (url: string): string => {
  let end = url.length
  while (url.endsWith("/", end)) end--
  return url.slice(0, end)
}

/** Where requests go: it must hold no secret, and no part that changes the path. The trailing slash is dropped. */
export const BaseUrl = Schema.transform(
  Schema.String.annotations({ title: baseUrlTitle() }).pipe(Schema.filter(isBaseUrl, { title: baseUrlTitle() })),
  Schema.String,
  { strict: true, decode: withoutTrailingSlashes, encode: (text) => text }
)

const isHttpUrl = (text: string): boolean => /^https?:\/\/[^\s\\]+$/i.test(text) && URL.canParse(text)

/** An entry of an allow or deny list: an id, `<prefix>/*` or `*`. */
const Pattern = Schema.String.annotations({ title: "an id, <prefix>/* or *" }).pipe(
  Schema.pattern(/^\S{1,300}$/, { title: "an id, <prefix>/* or *" })
)

export const Patterns = Schema.Array(Pattern).annotations({ title: "a list of ids" })

function isBaseUrl(text: string): boolean {
  if (!isHttpUrl(text)) return false
  const url = new URL(text)
  return url.username === "" && url.password === "" && !/[?#@]/.test(text)
}

function baseUrlTitle(): string {
  return "an http or https URL without credentials, query or fragment"
}
