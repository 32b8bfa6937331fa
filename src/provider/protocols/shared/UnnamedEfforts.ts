import { type Effort, efforts } from "../../../domain/Chat.ts"

/** Of a table of a format's own names: efforts that have none there, so that another one is sent for them. */
export const unnamedEfforts = (names: Readonly<Partial<Record<Effort, string>>>): ReadonlyArray<Effort> =>
  efforts.filter((effort) => names[effort] !== undefined && names[effort].toLowerCase() !== effort)
