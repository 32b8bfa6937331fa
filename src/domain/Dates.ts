import * as DateTime from "effect/DateTime"

/** The driver takes and gives dates; the gateway's clock counts milliseconds since the epoch. */
export const dateAt = (millis: number): Date => DateTime.toDateUtc(DateTime.unsafeMake(millis))
