import * as Effect from "effect/Effect"
import { BatchFailed } from "../../src/ledger/LedgerStore.ts"
import type { VirtualTimers } from "../../src/testing/doubles/VirtualTimers.ts"
import type { Dice } from "./Dice.ts"
import type { NodeScheduler } from "./NodeScheduler.ts"
import type { SimulatedDatabase } from "./SimulatedDatabase.ts"

/** How the connection treats statements. */
export interface Faults {
  /** Nothing gets through to the database. */
  isCut: boolean
  /** Of the responses that are lost after the statement was committed. */
  lostResponses: number
  /** Of the statements that are committed only after the node has given them up. */
  lateCommits: number
}

/** A node gives a statement up after this time. */
const statementMillis = 5_000
const minLatencyMillis = 1
const maxLatencyMillis = 8
const maxLateMillis = 4_000

/** A node's connection to the database. */
export class Link {
  readonly faults: Faults = { isCut: false, lostResponses: 0, lateCommits: 0 }
  private readonly clock: VirtualTimers
  private readonly database: SimulatedDatabase
  private readonly node: NodeScheduler
  private readonly dice: Dice

  constructor(clock: VirtualTimers, database: SimulatedDatabase, node: NodeScheduler, dice: Dice) {
    this.clock = clock
    this.database = database
    this.node = node
    this.dice = dice
  }

  private get isCut(): boolean {
    return this.faults.isCut || !this.database.isUp
  }

  /** Runs one transaction in the database, if it gets there, and brings back its result, if that gets back. */
  send<A>(transaction: () => A): Effect.Effect<A, BatchFailed> {
    return Effect.async((resume) => {
      const latencyMillis = this.dice.between(minLatencyMillis, maxLatencyMillis)
      const fate = this.dice.next()
      let isOver = false
      const over = (result: Effect.Effect<A, BatchFailed>): void => {
        if (isOver) return
        isOver = true
        giveUp()
        resume(result)
      }
      const giveUp = this.node.timers.after(statementMillis, () => over(Effect.fail(lost)))
      if (this.isCut) return
      const isLate = fate < this.faults.lateCommits
      const isLost = !isLate && fate < this.faults.lateCommits + this.faults.lostResponses
      const arrivesMillis = isLate ? statementMillis + this.dice.between(1, maxLateMillis) : latencyMillis
      this.clock.after(arrivesMillis, () => {
        const result = transaction()
        if (isLost || isLate || this.isCut) return
        this.clock.after(latencyMillis, () => this.node.deliver(() => over(Effect.succeed(result))))
      })
    })
  }
}

const lost = new BatchFailed({
  cause: new Error("the connection is lost"),
  rejected: false,
  uncertain: true,
  locked: false
})
