import * as Schema from "effect/Schema"

const pattern = /^(\d{4})-(\d{2})-(\d{2})T(?:[01]\d|2[0-3]):\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/iu
/** The years that PostgreSQL and RFC 3339 both have, in UTC. */
const firstMillis = Date.parse("0001-01-01T00:00:00Z")
const lastMillis = Date.parse("9999-12-31T23:59:59.999Z")

/** `Date` takes much else: years alone, local times, the 31st of February. */
const isTime = (text: string): boolean => {
  const [, year, month, day] = pattern.exec(text) ?? []
  const millis = Date.parse(text)
  return millis >= firstMillis && millis <= lastMillis && Number(day) <= daysOf(Number(year), Number(month))
}

const daysOf = (year: number, month: number): number => {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
}

const SentTime = Schema.compose(
  Schema.String.pipe(Schema.filter(isTime, { description: "a time in RFC 3339, such as 2026-01-31T08:00:00Z" })),
  Schema.Date
)

const described = (description: string) => ({
  description,
  jsonSchema: { type: "string", format: "date-time", description }
})
const describedOrNull = (description: string) => ({
  description,
  jsonSchema: { description, anyOf: [{ type: "string", format: "date-time" }, { type: "null" }] }
})

/** A time in RFC 3339, in UTC with milliseconds. */
export const timestamp = (description: string) => Schema.Date.annotations(described(description))
export const timestampOrNull = (description: string) =>
  Schema.NullOr(Schema.Date).annotations(describedOrNull(description))

/** A time in a request, in RFC 3339 with any offset. */
export const sentTimestamp = (description: string) => SentTime.annotations(described(description))
export const sentTimestampOrNull = (description: string) =>
  Schema.NullOr(SentTime).annotations(describedOrNull(description))
