import * as fc from "fast-check"

/** What is done to the ledger, on one account with two projects' worth of keys. Indexes count what exists, wrapping around. */
export type Step =
  | {
      readonly do: "reserve"
      readonly key: number
      readonly options: ReadonlyArray<readonly [full: number, least: number]>
    }
  | { readonly do: "extend"; readonly hold: number; readonly full: number; readonly least: number }
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
const options = fc.array(
  fc.tuple(amount, amount).map(([a, b]) => [Math.max(a, b), Math.min(a, b)] as const),
  { minLength: 1, maxLength: 3 }
)

export const steps: fc.Arbitrary<ReadonlyArray<Step>> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant("reserve" as const), key: fc.nat(2), options }) },
    {
      weight: 3,
      arbitrary: fc
        .record({ do: fc.constant("extend" as const), hold: fc.nat(30), full: amount, least: amount })
        .map((step) => ({ ...step, full: Math.max(step.full, step.least), least: Math.min(step.full, step.least) }))
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
        amount: fc.integer({ min: 1, max: 500 }),
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

  reserve(scopes: ReadonlyArray<string>, options: ReadonlyArray<readonly [full: number, least: number]>): string {
    for (const [index, [full, least]] of options.entries()) {
      const room = Math.min(...scopes.map((scope) => this.unspent(scope) - this.held(scope)))
      if (least > room) continue
      const amount = Math.min(full, room)
      this.holds.push({ scopes, amount, charged: 0, open: true })
      return `granted ${index} ${amount}`
    }
    return this.refusal(scopes, 0, Math.min(...options.map(([, least]) => least)))
  }

  extend(hold: ModelHold, full: number, least: number): string {
    if (!hold.open) return "closed"
    const room = Math.min(...hold.scopes.map((scope) => this.unspent(scope) - this.held(scope))) + hold.amount
    if (full > hold.amount) {
      if (least > room) return this.refusal(hold.scopes, hold.amount, least)
      hold.amount = Math.max(hold.amount, Math.min(full, room))
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

  private unspent(scope: string): number {
    return (this.limits.get(scope) ?? Number.POSITIVE_INFINITY) - this.spent(scope)
  }

  private refusal(scopes: ReadonlyArray<string>, own: number, least: number): string {
    const short = scopes.filter((scope) => this.unspent(scope) - this.held(scope) + own < least)
    const first = (reason: string, fits: (scope: string) => boolean) => {
      const scope = short.find(fits)
      return scope === undefined ? undefined : `${scope} ${reason}`
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
