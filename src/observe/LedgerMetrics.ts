import * as MetricBoundaries from "effect/MetricBoundaries"
import { counter, gauge, histogram } from "./Family.ts"

/** The metrics of the ledger and its database. */

const seconds = MetricBoundaries.fromIterable([
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10
])

const reserveLatency = histogram(
  "gateway_ledger_reserve_seconds",
  "From the request for a hold to its answer, with the wait for money that running calls hold.",
  [],
  seconds
)
const batchLatency = histogram(
  "gateway_ledger_batch_seconds",
  "How long the ledger's statements take, each with many holds and settlements.",
  [],
  seconds
)
const batchRows = histogram(
  "gateway_ledger_batch_size",
  "Holds and settlements in one statement of the ledger.",
  [],
  MetricBoundaries.fromIterable([1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000])
)
const queued = gauge(
  "gateway_ledger_queued",
  "What waits for the ledger now, by kind: reservation, settlement.",
  ["kind"],
  "sum"
)
const dropped = counter(
  "gateway_ledger_settlements_dropped_total",
  "Charges, and ends of holds, that the database permanently rejected; the cost is written off, and the log has the figures.",
  []
)

export const reserveSeconds = (value: number): void => reserveLatency([], value)
export const batch = (size: number, value: number): void => {
  batchLatency([], value)
  batchRows([], size)
}
export const waiting = (reservations: number, settlements: number): void => {
  queued(["reservation"], reservations)
  queued(["settlement"], settlements)
}
export const settlementDropped = (): void => dropped([])

const violating = gauge(
  "gateway_ledger_violations",
  "Rows of the ledger that break an invariant, by invariant; expected to stay 0.",
  ["invariant"],
  "max"
)
const checkedAgo = gauge(
  "gateway_ledger_check_age_seconds",
  "Seconds since the ledger's invariants were last checked, by any node.",
  [],
  "max"
)
const checkedThrough = gauge(
  "gateway_ledger_check_lag_seconds",
  "Age of the newest hold that has been checked; it grows while calls are made faster than they can be checked.",
  [],
  "max"
)
const writtenOffSoFar = gauge(
  "gateway_ledger_written_off_micro_usd",
  "Written off so far, by kind: overrun is what calls cost above their hold, late what ended after its hold expired, absorbed what failed attempts cost.",
  ["kind"],
  "max"
)
const expired = gauge("gateway_ledger_expired_holds", "Holds so far whose call was lost in a crash.", [], "max")
const oldestHold = gauge("gateway_ledger_oldest_open_hold_seconds", "Age of the oldest open hold.", [], "max")

export const violations = (invariant: string, rows: number): void => violating([invariant], rows)
export const checkAgeSeconds = (value: number): void => checkedAgo([], value)
export const checkLagSeconds = (value: number): void => checkedThrough([], value)
export const writtenOff = (kind: "overrun" | "late" | "absorbed", amountMicroUsd: number): void =>
  writtenOffSoFar([kind], amountMicroUsd)
export const expiredHolds = (value: number): void => expired([], value)
export const oldestOpenHoldSeconds = (value: number): void => oldestHold([], value)

const poolConnections = gauge(
  "gateway_database_connections",
  "Connections to the database, by pool (calls, account) and state: active, idle; and waiting: statements that wait for one.",
  ["pool", "state"],
  "sum"
)
const connectionWait = histogram(
  "gateway_database_wait_seconds",
  "How long statements of calls wait for a connection to the database.",
  [],
  seconds
)

export const connections = (pool: string, active: number, idle: number, waitingStatements: number): void => {
  poolConnections([pool, "active"], active)
  poolConnections([pool, "idle"], idle)
  poolConnections([pool, "waiting"], waitingStatements)
}
export const connectionWaitSeconds = (value: number): void => connectionWait([], value)

/** An alert on a counter that has not been counted yet would see no increase at its first one. */
export const start = (): void => dropped([], 0)
