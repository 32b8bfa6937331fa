import { defaultMaxAttempts, defaultTimeouts } from "../domain/DefaultOptions.ts"
import type { ConfigIssue } from "../domain/InvalidConfiguration.ts"
import { attemptsBounds, issuesOfNumber, millisBounds } from "../domain/OptionIssues.ts"
import type { Deadlines } from "./Deadlines.ts"

/** How long providers may take, and how many may be tried. */
export interface GatewayOptions {
  /** Of an attempt and of the whole call, each 1 to 2,147,483,647. */
  readonly deadlines: Deadlines
  /** Candidates that one call may try, 1 to 32. */
  readonly maxAttempts: number
}

/** The options of the service: four attempts, and its deadlines. */
export const defaultOptions: GatewayOptions = { deadlines: defaultTimeouts, maxAttempts: defaultMaxAttempts }

/** What is wrong with the options. */
export const issuesOfGatewayOptions = ({ deadlines, maxAttempts }: GatewayOptions): ReadonlyArray<ConfigIssue> => [
  ...deadlineNames.flatMap((name) =>
    name === "maxTotalMillis" && deadlines[name] === undefined
      ? []
      : issuesOfNumber(deadlines[name], millisBounds, `deadlines.${name}`)
  ),
  ...issuesOfNumber(maxAttempts, attemptsBounds, "maxAttempts")
]

const deadlineNames = [
  "firstContentMillis",
  "plainAnswerMillis",
  "idleMillis",
  "totalMillis",
  "maxTotalMillis"
] as const satisfies ReadonlyArray<keyof Deadlines>
