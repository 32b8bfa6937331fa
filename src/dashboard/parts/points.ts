/** Points of time on an axis, in UTC as the service counts days. */

export const timeOf = (date: string): number => new Date(date).getTime() / 1_000

const days = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" })
const hours = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: "UTC" })

export const dayOf = (seconds: number): string => days.format(new Date(seconds * 1_000))
export const hourOf = (seconds: number): string => hours.format(new Date(seconds * 1_000))
