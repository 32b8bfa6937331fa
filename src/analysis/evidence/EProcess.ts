/**
 * Evidence against a hypothesis E[Y] ≤ 0, gathered value by value. It may be looked at after every value: under the hypothesis
 * it reaches 1 / a with probability a at most, whenever one stops (Ville's inequality).
 */
export interface EProcess {
  /** The logarithm of what each bet has become, in the order of its `bets`. */
  readonly logs: ReadonlyArray<number>
  readonly bets: ReadonlyArray<number>
  readonly count: number
}

/** How many bets are mixed: small ones find small effects after many values, large ones large effects after few. */
const mixed = 24
const smallestBet = 0.01
/** A bet never loses everything by one value. */
const largestStake = 0.95

/** For values that are never below `-lowest`. */
export const start = (lowest: number): EProcess => {
  const largest = largestStake / lowest
  const step = (largest / smallestBet) ** (1 / (mixed - 1))
  return {
    bets: Array.from({ length: mixed }, (_, at) => smallestBet * step ** at),
    logs: new Array<number>(mixed).fill(0),
    count: 0
  }
}

export const next = ({ bets, count, logs }: EProcess, value: number): EProcess => ({
  bets,
  logs: logs.map((log, at) => log + Math.log1p((bets[at] ?? 0) * value)),
  count: count + 1
})

/** The evidence: the mean of the bets. */
export const eValue = ({ logs }: Pick<EProcess, "logs">): number => Math.exp(logMean(logs))

const logMean = (logs: ReadonlyArray<number>): number => {
  const highest = Math.max(...logs)
  return highest + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - highest), 0) / logs.length)
}

/**
 * How many more values of the kind seen so far would bring the evidence to `goal`; `null` where they would not. An estimate for
 * people, which no claim rests on.
 */
export const valuesNeeded = (process: EProcess, goal: number): number | null => {
  if (eValue(process) >= goal) return 0
  const best = process.count === 0 ? 0 : Math.max(...process.logs) / process.count
  // the mixture pays for not knowing the best bet in advance
  return best <= 0 ? null : Math.max(1, Math.ceil((Math.log(goal) + Math.log(mixed)) / best) - process.count)
}
