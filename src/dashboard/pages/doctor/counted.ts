import { count } from "../../parts/format.ts"

/** `1 call`, `12 calls`. */
export const counted = (number: number, one: string): string => `${count(number)} ${one}${number === 1 ? "" : "s"}`
