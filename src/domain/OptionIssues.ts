import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { type ConfigIssue, InvalidConfiguration } from "./InvalidConfiguration.ts"

/** What a whole number that is configured may be, by the operator of the service and by an application alike. */
export interface Bounds {
  readonly min: number
  readonly max: number
  readonly unit?: string
  /** Why, where a caller could not guess. */
  readonly reason?: string
}

/** Node's timers hold this many milliseconds at most and fire at once beyond it. */
export const maxMillis = 2_147_483_647

export const millisBounds: Bounds = { min: 1, max: maxMillis, unit: "milliseconds" }

export const millisOrZeroBounds: Bounds = { ...millisBounds, min: 0 }

/** Candidates that one call may try. */
export const attemptsBounds: Bounds = { min: 1, max: 32 }

/** Requests or tokens of a rate limit. */
export const countBounds: Bounds = { min: 1, max: 1_000_000_000 }

/** Two days at least: the activity of the last 24 hours is read from the calls themselves. */
export const callDaysBounds: Bounds = { min: 2, max: 36_500, unit: "days" }

/** Two for accounts that are locked. */
export const connectionsBounds: Bounds = { min: 2, max: 1_000, reason: "a statement of the ledger can hold two" }

export const isWithin = ({ max, min }: Bounds, value: unknown): boolean =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max

/** Completes the sentence "must be …". */
export const boundsText = ({ max, min, reason, unit }: Bounds): string =>
  `a whole number${unit === undefined ? "" : ` of ${unit}`} from ${min} to ${max}${reason === undefined ? "" : `: ${reason}`}`

export const issuesOfNumber = (value: unknown, bounds: Bounds, path: string): ReadonlyArray<ConfigIssue> =>
  isWithin(bounds, value) ? [] : [{ path, message: `must be ${boundsText(bounds)}` }]

export const issuesOfNumberOrNull = (value: unknown, bounds: Bounds, path: string): ReadonlyArray<ConfigIssue> =>
  value === null || isWithin(bounds, value) ? [] : [{ path, message: `must be ${boundsText(bounds)}, or null` }]

/** Effect itself takes negative numbers and NaN as zero. */
export const issuesOfDuration = (
  value: Duration.DurationInput,
  { orZero }: { readonly orZero: boolean },
  path: string
): ReadonlyArray<ConfigIssue> => {
  const isNumber = typeof value !== "number" || value >= 0
  const decoded = Option.filter(Duration.decodeUnknown(value), Duration.isFinite)
  const isLongEnough = Option.exists(decoded, (duration) => orZero || Duration.greaterThan(duration, Duration.zero))
  if (isNumber && isLongEnough) return []
  return [{ path, message: `must be a finite duration${orZero ? ", at least zero" : " above zero"}` }]
}

/** The same issues of an option of this name. */
export const issuesWithin = (name: string, issues: ReadonlyArray<ConfigIssue>): ReadonlyArray<ConfigIssue> =>
  issues.map(({ message, path }) => ({ path: `${name}.${path}`, message }))

/** Fails with all issues, where there are any. */
export const requireValid = (issuesOf: () => ReadonlyArray<ConfigIssue>): Effect.Effect<void, InvalidConfiguration> =>
  Effect.suspend(() => {
    const issues = issuesOf()
    return issues.length === 0 ? Effect.void : new InvalidConfiguration({ issues })
  })

/** The Layer of options without issues: of wrong ones it is not even made. */
export const layerIfValid = <A, E, R>(
  issuesOf: () => ReadonlyArray<ConfigIssue>,
  layer: () => Layer.Layer<A, E, R>
): Layer.Layer<A, E | InvalidConfiguration, R> => Layer.unwrapEffect(Effect.map(requireValid(issuesOf), layer))
