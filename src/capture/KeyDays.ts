import { dateAt } from "../domain/Dates.ts"

const dayMillis = 86_400_000
/** Later calls of a conversation that goes on for longer are sealed under the key of a later day. */
const maxDaysOfKey = 7

/** The day in UTC under whose key a conversation is sealed that begins now. */
export const dayOf = (millis: number): string => dateAt(millis).toISOString().slice(0, 10)

/** The first day whose key still seals. */
export const oldestDayOf = (nowMillis: number, retentionDays: number): string =>
  dayOf(nowMillis - Math.min(maxDaysOfKey, retentionDays) * dayMillis)

/** All of a conversation expires with its key. */
export const expiryOf = (day: string, retentionDays: number): Date =>
  dateAt(Date.parse(`${day}T00:00:00Z`) + (retentionDays + 1) * dayMillis)
