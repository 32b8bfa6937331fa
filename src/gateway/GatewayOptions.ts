import { type Deadlines, defaultDeadlines } from "./Deadlines.ts"

/** How long providers may take, and how many may be tried. */
export interface GatewayOptions {
  /** Of an attempt and of the whole call. */
  readonly deadlines: Deadlines
  /** Candidates that one call may try. */
  readonly maxAttempts: number
}

/** The options of the service: four attempts, and its deadlines. */
export const defaultOptions: GatewayOptions = { deadlines: defaultDeadlines, maxAttempts: 4 }
