/** How a joint saving is divided. All amounts in micro-USD. */
export interface Decomposition {
  /** By position of the cause; whole numbers whose sum is `joint`. 0 for a cause that adds nothing. */
  readonly shares: ReadonlyArray<number>
  /** What each would save alone. */
  readonly alone: ReadonlyArray<number>
  /** What all together save: at most what was charged. */
  readonly joint: number
  /** Of each cause and conversation, unrounded. */
  readonly perConversation: ReadonlyArray<Float64Array>
}

/**
 * Divides what causes save together into shares that add up: the mean of what each adds over orders of the causes (Shapley).
 * Savings of causes each by itself do not add up, since two may remove the same tokens.
 *
 * @param count How many causes there are.
 * @param bill What each conversation costs without the waste of these causes, in what was charged.
 * @param seed Of the orders.
 */
export const decompose = (
  count: number,
  bill: (causes: ReadonlySet<number>) => Float64Array,
  seed: number
): Decomposition => {
  const bills = new Map<string, Float64Array>()
  const billOf = (set: ReadonlySet<number>): Float64Array => {
    const key = [...set].sort((a, b) => a - b).join(" ")
    const known = bills.get(key)
    if (known !== undefined) return known
    const fresh = bill(set)
    bills.set(key, fresh)
    return fresh
  }
  const base = billOf(new Set())
  const alone = Array.from({ length: count }, (_, cause) =>
    Math.max(0, Math.floor(sum(base) - sum(billOf(new Set([cause])))))
  )
  let kept = alone.flatMap((saving, cause) => (saving > 0 ? [cause] : []))
  for (;;) {
    const per = sharesOf(kept, billOf, base.length, seed)
    const worst = kept.reduce(
      (least, cause, position) => (sum(per[position]) < sum(per[kept.indexOf(least)]) ? cause : least),
      kept[0] ?? -1
    )
    if (worst >= 0 && sum(per[kept.indexOf(worst)]) < 0) {
      kept = kept.filter((cause) => cause !== worst)
      continue
    }
    const joint = Math.max(0, Math.floor(sum(base) - sum(billOf(new Set(kept)))))
    const rounded = largestRemainder(
      kept.map((_, position) => sum(per[position])),
      joint
    )
    const at = new Map(kept.map((cause, position) => [cause, position]))
    return {
      shares: alone.map((_, cause) => rounded[at.get(cause) ?? -1] ?? 0),
      alone,
      joint,
      perConversation: alone.map((_, cause) => per[at.get(cause) ?? -1] ?? new Float64Array(base.length))
    }
  }
}

/** Orders, each also in reverse: their marginal savings vary in opposite directions. */
const orders = 6

const sharesOf = (
  kept: ReadonlyArray<number>,
  billOf: (set: ReadonlySet<number>) => Float64Array,
  conversations: number,
  seed: number
): ReadonlyArray<Float64Array> => {
  const shares = kept.map(() => new Float64Array(conversations))
  const next = random(seed)
  for (let round = 0; round < orders; round++) {
    const order = shuffled(
      kept.map((_, position) => position),
      next
    )
    for (const each of [order, [...order].reverse()]) {
      const set = new Set<number>()
      let before = billOf(set)
      for (const position of each) {
        set.add(kept[position] ?? 0)
        const after = billOf(set)
        const share = shares[position]
        if (share !== undefined) {
          for (let i = 0; i < conversations; i++) {
            share[i] = (share[i] ?? 0) + ((before[i] ?? 0) - (after[i] ?? 0)) / (2 * orders)
          }
        }
        before = after
      }
    }
  }
  return shares
}

/** Whole numbers with this sum, each within one of its amount where the amounts have that sum. */
export const largestRemainder = (amounts: ReadonlyArray<number>, total: number): ReadonlyArray<number> => {
  const whole = amounts.map((amount) => Math.max(0, Math.floor(amount)))
  const byRemainder = amounts
    .map((amount, position) => ({ position, remainder: amount - Math.floor(amount) }))
    .sort((a, b) => b.remainder - a.remainder || a.position - b.position)
  let left = total - whole.reduce((a, b) => a + b, 0)
  for (let turn = 0; left !== 0 && byRemainder.length > 0; turn++) {
    const position = byRemainder[turn % byRemainder.length]?.position ?? 0
    const step = Math.sign(left)
    if (step < 0 && whole[position] === 0) continue
    whole[position] = (whole[position] ?? 0) + step
    left -= step
  }
  return whole
}

/** Numbers from 0 to 1 that a seed decides. */
export const random = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

const shuffled = (items: ReadonlyArray<number>, next: () => number): ReadonlyArray<number> => {
  const copy = [...items]
  for (let i = copy.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1))
    const held = copy[i] ?? 0
    copy[i] = copy[j] ?? 0
    copy[j] = held
  }
  return copy
}

const sum = (amounts: Float64Array | undefined): number => {
  let total = 0
  for (const amount of amounts ?? []) total += amount
  return total
}
