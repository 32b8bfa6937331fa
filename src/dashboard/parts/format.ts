/** How figures are written. Money is whole micro-USD on the wire; what is unknown is a dash, never zero. */

export const unknown = "—"

const microPerUsd = 1_000_000

/** `$24.31`, `$0.0041`, `$24.999958`: cents, and as many digits more as the amount has, so that shown amounts add up. */
export const money = (microUsd: number | null | undefined): string => {
  if (microUsd === null || microUsd === undefined) return unknown
  const sign = microUsd < 0 ? "−" : ""
  const usd = Math.abs(microUsd) / microPerUsd
  if (usd === 0) return "$0"
  return `${sign}$${usd.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 6 })}`
}

export const cost = (of: { readonly amount_microusd: number; readonly basis: string }): string =>
  `${of.basis === "estimated" && of.amount_microusd > 0 ? "≈ " : ""}${money(of.amount_microusd)}`

/** What a person types into a field for money; `undefined` is no amount, or one that would have to be rounded. */
export const microUsdOf = (usd: string | number): number | null | undefined => {
  if (usd === "") return null
  const amount = Number(usd)
  if (!Number.isFinite(amount) || amount < 0 || Number(amount.toFixed(6)) !== amount) return undefined
  return Math.round(amount * microPerUsd)
}

export const usdOf = (microUsd: number | null): number | "" => (microUsd === null ? "" : microUsd / microPerUsd)

export const count = (value: number | null | undefined): string =>
  value === null || value === undefined ? unknown : value.toLocaleString("en-US")

/** `1 call`, `12 calls`. */
export const counted = (number: number, one: string): string => `${count(number)} ${one}${number === 1 ? "" : "s"}`

/** `1.2k`, `3.4M`, `5.6B`. */
export const short = (value: number | null | undefined): string => {
  if (value === null || value === undefined) return unknown
  if (value < 1_000) return String(value)
  const [unit, size] = sizes.find(([, each]) => value < maxShown * each) ?? largest
  return `${trimmedOnce(value / size)}${unit}`
}

/** What is more is rounded to a thousand, which is one of the next size. */
const maxShown = 999.5
const largest = ["B", 1_000_000_000] as const
const sizes = [["k", 1_000], ["M", 1_000_000], largest] as const

const trimmedOnce = (value: number): string =>
  value >= 100 ? String(Math.round(value)) : String(Number(value.toFixed(1)))

export const seconds = (millis: number | null | undefined): string => {
  if (millis === null || millis === undefined) return unknown
  return millis < 1_000 ? `${Math.round(millis)} ms` : `${(millis / 1_000).toFixed(millis < 10_000 ? 1 : 0)} s`
}

export const percent = (share: number): string => `${Number((share * 100).toFixed(1))} %`

/** A share in a field of percent, and back: one that is not changed is sent as it was read. */
export const percentOf = (share: number): number => Number((share * 100).toPrecision(digits))
export const shareOf = (percents: string | number): number => Number((Number(percents) / 100).toPrecision(digits))
/** Fewer than a number has: 0.07 is 7 %, and not 7.000000000000001. */
const digits = 12

/** The name of a record's key, or where it has none the end of the id. */
export const keyName = (of: { readonly key_id: string; readonly key_name: string | null }): string =>
  of.key_name ?? of.key_id.slice(-8)

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" })
const minute = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" })
const full = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" })

/** The time; the day and the minute where it is not today. */
export const time = (iso: string): string => {
  const at = new Date(iso)
  const isToday = at.toDateString() === new Date().toDateString()
  return isToday ? clock.format(at) : minute.format(at)
}

export const dateTime = (iso: string | null): string => (iso === null ? unknown : full.format(new Date(iso)))

/** Each with the amount that is written in the next one. */
const units: ReadonlyArray<readonly [name: string, millis: number, end: number]> = [
  ["s", 1_000, 60],
  ["min", 60_000, 60],
  ["h", 3_600_000, 24]
]
const days = ["d", 86_400_000] as const

/** `in 3 d`, `2 min ago`. */
export const relative = (iso: string, now = Date.now()): string => {
  const apart = new Date(iso).getTime() - now
  const inUnit = (millis: number) => Math.round(Math.abs(apart) / millis)
  const [name, millis] = units.find(([, each, end]) => inUnit(each) < end) ?? days
  return apart > 0 ? `in ${inUnit(millis)} ${name}` : `${inUnit(millis)} ${name} ago`
}
