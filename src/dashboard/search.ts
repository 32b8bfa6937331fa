/** What the search strings of the pages hold; anything else in them is dropped. */

type Raw = Record<string, unknown>

const text = (raw: Raw, name: string): string | undefined => {
  const value = raw[name]
  const found = typeof value === "number" || typeof value === "boolean" ? String(value) : value
  return typeof found === "string" && found !== "" ? found : undefined
}

const oneOf = <Value extends string | number>(
  raw: Raw,
  name: string,
  values: ReadonlyArray<Value>
): Value | undefined => values.find((value) => String(value) === text(raw, name))

const pageNumber = (raw: Raw): number | undefined => {
  const page = Number(raw["page"])
  return Number.isInteger(page) && page > 1 ? page : undefined
}

const position = (raw: Raw, name: string): number | undefined => {
  const at = Number(text(raw, name) ?? Number.NaN)
  return Number.isInteger(at) && at >= 0 ? at : undefined
}

/** Without the members that are undefined, so that they do not stand in the address. */
const given = <Members extends object>(
  members: Members
): { [Name in keyof Members]?: Exclude<Members[Name], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Members]?: Exclude<Members[Name], undefined>
  }

export const signIn = (raw: Raw) => given({ return_to: text(raw, "return_to") })

export const days = [1, 7, 30, 90] as const
export type Days = (typeof days)[number]
/** Days in UTC, of which today is one: the range of one day begins at midnight. */
export const rangeLabels: Readonly<Record<Days, string>> = { 1: "Today", 7: "7 d", 30: "30 d", 90: "90 d" }
export const overview = (raw: Raw) =>
  given({ days: oneOf(raw, "days", days), show: oneOf(raw, "show", ["requests", "spend"] as const) })

export const keys = (raw: Raw) =>
  given({ page: pageNumber(raw), key: text(raw, "key"), new: oneOf(raw, "new", ["1"] as const) })

const day = (raw: Raw, name: string): string | undefined => {
  const value = text(raw, name)
  return value !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value))
    ? value
    : undefined
}

export const statuses = ["success", "error", "timeout", "cancelled"] as const
export const requests = (raw: Raw) =>
  given({
    tab: oneOf(raw, "tab", ["refused", "running"] as const),
    status: oneOf(raw, "status", statuses),
    model: text(raw, "model"),
    provider: text(raw, "provider"),
    key: text(raw, "key"),
    q: text(raw, "q"),
    range: oneOf(raw, "range", ["1h", "24h", "7d", "30d"] as const),
    /** A day in UTC: all that has ended since it began. */
    since: day(raw, "since"),
    request: text(raw, "request"),
    live: oneOf(raw, "live", ["1"] as const)
  })

export const conversation = (raw: Raw) => given({ artifact: text(raw, "artifact"), with: text(raw, "with") })
export const analyses = (raw: Raw) =>
  given({
    tab: oneOf(raw, "tab", ["samples"] as const),
    sample: text(raw, "sample"),
    block: position(raw, "block"),
    new: oneOf(raw, "new", ["1"] as const)
  })
export const credits = (raw: Raw) => given({ buy: oneOf(raw, "buy", ["1"] as const), entry: text(raw, "entry") })
export const activity = (raw: Raw) =>
  given({ days: oneOf(raw, "days", days), by: oneOf(raw, "by", ["model", "provider", "key"] as const) })
export const models = (raw: Raw) =>
  given({
    q: text(raw, "q"),
    provider: text(raw, "provider"),
    sort: oneOf(raw, "sort", ["id", "input", "output", "context", "quality"] as const),
    compare: text(raw, "compare"),
    model: text(raw, "model")
  })
export const settings = (raw: Raw) =>
  given({ tab: oneOf(raw, "tab", ["project", "members", "sessions", "audit"] as const) })
export const admin = (raw: Raw) => given({ tab: oneOf(raw, "tab", ["users", "projects"] as const) })
export const routing = (raw: Raw) => given({ new: oneOf(raw, "new", ["1"] as const) })
export const providers = (raw: Raw) =>
  given({ credential: text(raw, "credential"), new: oneOf(raw, "new", ["1"] as const) })
