import * as fc from "fast-check"

/** What a candidate needs. Without a typical amount the client has set a cap. */
export type Amounts = readonly [full: number, least: number, typical: number | null]

/** What is done to the ledger, on one account with two projects' worth of keys. Indexes count what exists, wrapping around. */
export type Step =
  | {
      readonly do: "reserve"
      readonly key: number
      readonly options: ReadonlyArray<Amounts>
      /** Only the first option is at hand. */
      readonly isLazy: boolean
    }
  | { readonly do: "extend"; readonly hold: number; readonly amounts: Amounts }
  | {
      readonly do: "settle"
      readonly hold: number
      readonly state: "settled" | "cancelled" | "void"
      readonly actual: number
    }
  | { readonly do: "expire" }
  | { readonly do: "credit"; readonly amount: number; readonly source: number }
  | { readonly do: "limit"; readonly scope: number; readonly limit: number | null }

const amount = fc.integer({ min: 0, max: 300 })
/** In their order: a typical amount lies between the least and the full one. */
const amounts: fc.Arbitrary<Amounts> = fc.tuple(amount, amount, amount, fc.boolean()).map(([a, b, c, capped]) => {
  const [least = 0, typical = 0, full = 0] = [a, b, c].sort((one, other) => one - other)
  return [full, least, capped ? null : typical]
})
const options = fc.array(amounts, { minLength: 1, maxLength: 3 })

export const steps: fc.Arbitrary<ReadonlyArray<Step>> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ do: fc.constant("reserve" as const), key: fc.nat(2), options, isLazy: fc.boolean() })
    },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant("extend" as const), hold: fc.nat(30), amounts })
    },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant("settle" as const),
        hold: fc.nat(30),
        state: fc.constantFrom("settled" as const, "cancelled" as const, "void" as const),
        actual: amount
      })
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("expire" as const) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant("credit" as const),
        // with much money, settlements wait while others are granted all that they ask for
        amount: fc.oneof(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 50_000 })),
        source: fc.nat(3)
      })
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant("limit" as const),
        scope: fc.nat(3),
        limit: fc.option(fc.integer({ min: 0, max: 600 }), { nil: null })
      })
    }
  ),
  { maxLength: 40 }
)

export interface ModelHold {
  readonly scopes: ReadonlyArray<string>
  amount: number
  charged: number
  open: boolean
}

/** The reference model of the ledger: limits, and a list of holds that is summed anew for every request. */
export class Model {
  readonly limits = new Map<string, number | null>()
  readonly holds: Array<ModelHold> = []
  private readonly sources = new Set<number>()

  spent(scope: string): number {
    return this.sum(scope, (hold) => hold.charged)
  }

  held(scope: string): number {
    return this.sum(scope, (hold) => (hold.open ? hold.amount : 0))
  }

  reserve(scopes: ReadonlyArray<string>, options: ReadonlyArray<Amounts>): string {
    const room = this.room(scopes)
    for (const [index, [full, least, typical]] of options.entries()) {
      if (least > room) continue
      const amount = typical === null ? Math.min(full, room) : Math.min(full, share(room, least, typical))
      this.holds.push({ scopes, amount, charged: 0, open: true })
      return `granted ${index} ${amount}`
    }
    return this.refusal(scopes, 0, Math.min(...options.map(([, least]) => least)))
  }

  extend(hold: ModelHold, [full, least, typical]: Amounts): string {
    if (!hold.open) return "closed"
    const room = this.room(hold.scopes)
    const more = full - hold.amount
    const needed = least - hold.amount
    if (more > 0) {
      if (needed > 0 && needed > room) return this.refusal(hold.scopes, hold.amount, least)
      const granted = typical === null ? room : share(room, needed, typical - hold.amount)
      hold.amount += Math.max(0, Math.min(more, granted))
    }
    return `granted ${hold.amount}`
  }

  settle(hold: ModelHold, state: string, actual: number): void {
    if (!hold.open) return
    hold.charged = state === "void" ? 0 : Math.min(actual, hold.amount)
    hold.open = false
  }

  expire(): void {
    for (const hold of this.holds) hold.open = false
  }

  credit(account: string, amount: number, source: number): boolean {
    if (this.sources.has(source)) return false
    this.sources.add(source)
    this.limits.set(account, (this.limits.get(account) ?? 0) + amount)
    return true
  }

  private room(scopes: ReadonlyArray<string>): number {
    return Math.min(...scopes.map((scope) => this.unspent(scope) - this.held(scope)))
  }

  private unspent(scope: string): number {
    return (this.limits.get(scope) ?? Number.POSITIVE_INFINITY) - this.spent(scope)
  }

  private refusal(scopes: ReadonlyArray<string>, own: number, least: number): string {
    const short = scopes.filter((scope) => this.unspent(scope) - this.held(scope) + own < least)
    const first = (reason: string, fits: (scope: string) => boolean) => {
      const scope = short.find(fits)
      if (scope === undefined) return undefined
      const available = Math.max(0, this.unspent(scope) - this.held(scope))
      return `${scope} ${reason}: ${least - own} of ${available}, ${this.held(scope)} held`
    }
    return (
      first("exhausted", (scope) => this.unspent(scope) <= 0) ??
      first("too_large", (scope) => this.unspent(scope) < least) ??
      first("held", () => true) ??
      "rejected by nothing"
    )
  }

  private sum(scope: string, of: (hold: ModelHold) => number): number {
    return this.holds.filter((hold) => hold.scopes.includes(scope)).reduce((total, hold) => total + of(hold), 0)
  }
}

/** What a call without a cap is granted: what is typical, but half of the room at most, and a sixteenth at least. */
const share = (room: number, least: number, typical: number): number =>
  Math.min(room, Math.max(least, Math.floor(room / 16), Math.min(typical, Math.floor(room / 2))))
