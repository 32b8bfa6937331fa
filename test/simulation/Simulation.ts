import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type { CallerShape } from "../../src/domain/Caller.ts"
import type { ChatRequest } from "../../src/domain/Chat.ts"
import type { CallFailure } from "../../src/domain/GatewayError.ts"
import { makeUuid, nextRequestId } from "../../src/domain/IdGenerator.ts"
import { AccountId, KeyId, ProjectId, type RequestId } from "../../src/domain/Ids.ts"
import type { RouterMetadata } from "../../src/domain/RouterMetadata.ts"
import type { CallOptions } from "../../src/gateway/Admission.ts"
import * as VirtualTimers from "../../src/testing/doubles/VirtualTimers.ts"
import { chatRequest } from "../support/ChatRequests.ts"
import { Dice } from "./Dice.ts"
import { NamedCalls } from "./NamedCalls.ts"
import { isPhantom } from "./Refusals.ts"
import { SimulatedDatabase } from "./SimulatedDatabase.ts"
import { SimulatedNode } from "./SimulatedNode.ts"
import { models, type SimulatedAttempt } from "./SimulatedProviders.ts"
import { type Outcome, verify } from "./Verification.ts"

export interface SimulationOptions {
  readonly seed: number
  readonly calls: number
}

export interface SimulationReport {
  readonly seed: number
  readonly calls: number
  /** By outcome, what the clients have seen. */
  readonly outcomes: Readonly<Record<string, number>>
  readonly faults: Readonly<Record<string, number>>
  readonly chargedMicroUsd: number
  readonly simulatedMillis: number
  /** Empty when every invariant held. */
  readonly violations: ReadonlyArray<string>
}

/** A client's call, and what the client and the providers know of it. */
export interface ClientCall {
  readonly requestId: RequestId
  readonly caller: CallerShape
  readonly node: SimulatedNode
  readonly request: ChatRequest
  /** How long its answer is. */
  readonly words: number
  readonly attempts: Array<SimulatedAttempt>
  /** The cost that its response has told. */
  toldMicroUsd: number | undefined
  outcome: Outcome | undefined
}

/** An absence of a node, as its holds see it. */
export interface Absence {
  readonly nodeId: string
  readonly kind: "killed" | "paused" | "cut"
  readonly fromMillis: number
  untilMillis: number
}

const nodeCount = 3
/** More words than most answers have, so that caps are met too. */
const maxWords = 900
const meanArrivalMillis = 100
const meanFaultMillis = 10_000
/** What each account is credited with, and how often: enough for most calls, so that every limit is reached now and then. */
const topUpMicroUsd = 250_000
const topUpEveryMillis = 15_000
/** After the last call: longer than any call, any fault and the silence after which holds expire. */
const quietMillis = 900_000

/**
 * Runs the gateway's own program, several processes of it, on virtual time: simulated providers, clients and database, with
 * faults between them. Everything that happens follows from the seed.
 */
export const simulate = async (options: SimulationOptions): Promise<SimulationReport> => {
  const world = new World(options)
  await world.run()
  return world.report()
}

class World {
  private readonly options: SimulationOptions
  private readonly dice: Dice
  private readonly clock = VirtualTimers.make()
  private readonly startedAtMillis = this.clock.now()
  private readonly database = new SimulatedDatabase(this.clock)
  private readonly ids: { readonly uuid: () => string }
  private readonly callers: ReadonlyArray<CallerShape>
  private readonly calls = new Map<string, ClientCall>()
  private readonly absences: Array<Absence> = []
  private readonly faults: Record<string, number> = {}
  private readonly named: NamedCalls
  private nodes: Array<SimulatedNode> = []
  private arrived = 0
  private isQuiet = false

  constructor(options: SimulationOptions) {
    this.options = options
    this.dice = new Dice(options.seed)
    this.ids = { uuid: makeUuid(this.clock.now, (bytes) => this.dice.fill(bytes)) }
    this.callers = [
      this.caller({ credit: 5_000_000, project: null, key: null }),
      this.caller({ credit: 1_000_000, project: null, key: null }),
      this.caller({ credit: 1_000_000, project: null, key: 20_000_000 }),
      this.caller({ credit: 1_000_000, project: 20_000_000, key: null }),
      { ...this.caller({ credit: 0, project: 20_000_000, key: null }), billingMode: "byok" }
    ]
    this.named = new NamedCalls({
      clock: this.clock,
      dice: this.dice,
      database: this.database,
      callOf: (caller, request) => this.callOf(this.dice.of(this.reachable()), caller, request),
      program: (call, keptAnswer) => this.program(call, keptAnswer)
    })
    this.database.onRefusal = (callId) => this.refused(callId)
    for (let index = 0; index < nodeCount; index++) this.start()
  }

  async run(): Promise<void> {
    this.arrive()
    this.fault()
    this.topUp()
    while (this.arrived < this.options.calls && this.database.violations.length === 0) await this.step()
    this.isQuiet = true
    const untilMillis = this.clock.now() + quietMillis
    while (this.clock.now() < untilMillis && this.database.violations.length === 0) await this.step()
    this.database.check()
  }

  report(): SimulationReport {
    const outcomes: Record<string, number> = {}
    for (const { outcome } of this.calls.values()) {
      const name = outcome === undefined ? "none" : outcome._tag === "Failed" ? outcome.code : outcome._tag
      outcomes[name] = (outcomes[name] ?? 0) + 1
    }
    const checked = verify({
      calls: [...this.calls.values()],
      named: this.named.calls,
      database: this.database,
      absences: this.absences,
      nodes: this.nodes
    })
    return {
      seed: this.options.seed,
      calls: this.arrived,
      outcomes,
      faults: this.faults,
      chargedMicroUsd: this.database.calls().reduce((sum, call) => sum + call.charged, 0),
      simulatedMillis: this.clock.now() - this.startedAtMillis,
      violations: [...this.database.violations, ...checked]
    }
  }

  /** The next instant at which something happens, and all that follows from it at once. */
  private async step(): Promise<void> {
    try {
      await this.happen()
    } catch (defect) {
      this.database.violations.push(`a defect: ${defect instanceof Error ? defect.stack : defect}`)
    }
  }

  private async happen(): Promise<void> {
    if (!this.clock.next()) throw new Error("nothing is left to happen")
    let isBusy = true
    while (isBusy) {
      // the ledger's batches are begun in a microtask
      await undefined
      isBusy = false
      for (const node of this.nodes) isBusy = node.scheduler.drain() || isBusy
    }
  }

  private caller(limits: {
    readonly credit: number
    readonly project: number | null
    readonly key: number | null
  }): CallerShape {
    const caller: CallerShape = {
      accountId: AccountId.make(this.ids.uuid()),
      projectId: ProjectId.make(this.ids.uuid()),
      keyId: KeyId.make(this.ids.uuid()),
      billingMode: "managed"
    }
    this.database.open(caller, limits)
    return caller
  }

  private start(): void {
    const node = new SimulatedNode({
      id: this.ids.uuid(),
      clock: this.clock,
      database: this.database,
      dice: this.dice,
      ids: this.ids,
      wordsOf: ({ requestId }) => this.calls.get(requestId)?.words ?? 0,
      opened: (attempt) => this.calls.get(attempt.call.requestId)?.attempts.push(attempt)
    })
    node.link.faults.lostResponses = 0.002
    node.link.faults.lateCommits = 0.001
    this.nodes.push(node)
  }

  private arrive(): void {
    if (this.arrived >= this.options.calls) return
    this.clock.after(this.dice.exponential(meanArrivalMillis), () => {
      this.arrived += 1
      const caller = this.dice.of(this.callers)
      const request = this.request()
      if (this.dice.chance(0.15)) this.named.begin(`key ${this.arrived}`, caller, request)
      else this.call(this.callOf(this.dice.of(this.reachable()), caller, request))
      this.arrive()
    })
  }

  /** A load balancer sends little to a node that does not answer. */
  private reachable(): ReadonlyArray<SimulatedNode> {
    const alive = this.nodes.filter(({ isStopped }) => !isStopped)
    const present = alive.filter((node) => !this.isAbsent(node))
    return present.length === 0 || this.dice.chance(0.2) ? alive : present
  }

  private isAbsent(node: SimulatedNode): boolean {
    const now = this.clock.now()
    return this.absences.some((absence) => absence.nodeId === node.id && absence.untilMillis > now)
  }

  private topUp(): void {
    this.clock.after(topUpEveryMillis, () => {
      if (this.isQuiet) return
      for (const { accountId } of this.callers) {
        this.database.credit(accountId, topUpMicroUsd, `at ${this.clock.now()}`)
      }
      this.topUp()
    })
  }

  private callOf(node: SimulatedNode, caller: CallerShape, request: ChatRequest): ClientCall {
    const call: ClientCall = {
      requestId: nextRequestId(this.ids),
      caller,
      node,
      request,
      words: this.dice.between(1, maxWords),
      attempts: [],
      toldMicroUsd: undefined,
      outcome: undefined
    }
    this.calls.set(call.requestId, call)
    return call
  }

  private call(call: ClientCall): void {
    const running = call.node.fork(this.program(call, undefined))
    if (this.dice.chance(0.12)) this.leave(call, running)
  }

  /** Notes what the client hears. */
  private program(
    call: ClientCall,
    keptAnswer: CallOptions["keptAnswer"]
  ): Effect.Effect<number | undefined, CallFailure> {
    const { caller, node, request } = call
    const options = { requestId: call.requestId, endpoint: "chat", clientRequestId: null, keptAnswer } as const
    const run: Effect.Effect<unknown, CallFailure> = request.stream
      ? node.runner.relay(caller, request, this.sink(call), options)
      : node.runner.complete(caller, request, options, ({ metadata }) => metadata.cost.amount_microusd)
    return run.pipe(
      Effect.map((value) => (typeof value === "number" ? value : undefined)),
      Effect.onExit((exit) =>
        Effect.sync(() => {
          if (exit._tag === "Failure") heard(call, failed(exit.cause))
          else if (exit.value !== undefined) told(call, exit.value)
        })
      )
    )
  }

  private refused(callId: string): void {
    const call = this.calls.get(callId)
    const isAway = (id: string): boolean => {
      const node = this.calls.get(id)?.node
      return node === undefined || node.isStopped || this.isAbsent(node)
    }
    const running = (id: string): ClientCall | undefined => {
      const other = this.calls.get(id)
      return other?.outcome === undefined && !isAway(id) ? other : undefined
    }
    if (call !== undefined && isPhantom(call, this.database, { running, isAway })) {
      this.database.violations.push(`${callId}: refused, and it fits into what is left in the end`)
    }
  }

  private request(): ChatRequest {
    const model = this.dice.chance(0.4) ? "auto" : this.dice.of(models).id
    return chatRequest({
      model,
      messages: [{ role: "user", content: "a question ".repeat(this.dice.between(1, 400)) }],
      stream: this.dice.chance(0.6),
      maxOutputTokens: this.dice.chance(0.5) ? this.dice.between(1, 1_200) : undefined
    })
  }

  /** A client that reads what it is sent, sometimes slowly. */
  private sink(call: ClientCall) {
    const isSlow = this.dice.chance(0.1)
    return {
      begin: () => {},
      event: () => !(isSlow && this.dice.chance(0.2)),
      drained: (resume: () => void) => {
        this.clock.after(this.dice.between(1, 3_000), resume)
      },
      complete: (_finish: unknown, _usage: unknown, { cost, notes }: RouterMetadata) =>
        told(call, cost.amount_microusd, notes?.includes("output_capped_by_funds")),
      fail: (error: { readonly code: string }) => heard(call, { _tag: "Failed", code: error.code })
    }
  }

  private leave(call: ClientCall, running: Fiber.RuntimeFiber<unknown, unknown>): void {
    const { attempts, node, requestId } = call
    this.clock.after(this.dice.between(1, 20_000), () => {
      if (running.unsafePoll() !== null) return
      heard(call, { _tag: "Left" })
      node.scheduler.deliver(() => {
        running.unsafeInterruptAsFork(running.id())
        node.scheduler.timers.after(1, () => {
          if (attempts.some(({ isOpen }) => isOpen()))
            this.database.violations.push(`${requestId}: its client has left, and its upstream goes on`)
        })
      })
    })
  }

  private fault(): void {
    this.clock.after(this.dice.exponential(meanFaultMillis), () => {
      if (this.isQuiet) return
      const alive = this.nodes.filter(({ isStopped }) => !isStopped)
      const node = this.dice.of(alive)
      const kind = this.dice.next()
      const millis = this.dice.chance(0.06) ? this.dice.between(50_000, 90_000) : this.dice.between(100, 8_000)
      // the last one that lives is paused instead: clients need somewhere to go
      if (kind < 0.2 && alive.length > 1) this.kill(node)
      else if (kind < 0.5) this.absent(node, "paused", millis)
      else if (kind < 0.9) this.absent(node, "cut", millis)
      else {
        const outageMillis = this.dice.chance(0.3) ? this.dice.between(60_000, 90_000) : millis
        this.outage(outageMillis)
      }
      this.fault()
    })
  }

  private kill(node: SimulatedNode): void {
    this.count("killed")
    node.kill()
    this.absences.push({
      nodeId: node.id,
      kind: "killed",
      fromMillis: this.clock.now(),
      untilMillis: Number.POSITIVE_INFINITY
    })
    this.clock.after(this.dice.between(500, 10_000), () => this.start())
  }

  /** A node is absent for one reason at a time. */
  private absent(node: SimulatedNode, kind: "paused" | "cut", millis: number): void {
    if (this.isAbsent(node)) return
    const now = this.clock.now()
    this.count(kind)
    this.absences.push({ nodeId: node.id, kind, fromMillis: now, untilMillis: now + millis })
    if (kind === "paused") node.scheduler.pause()
    else node.link.faults.isCut = true
    this.clock.after(millis, () => {
      if (kind === "paused") node.scheduler.resume()
      else node.link.faults.isCut = false
    })
  }

  /** The database is away for everybody, those that start meanwhile too. */
  private outage(millis: number): void {
    if (!this.database.isUp) return
    this.count("outage")
    this.database.isUp = false
    this.clock.after(millis, () => {
      this.database.isUp = true
    })
  }

  private count(fault: string): void {
    this.faults[fault] = (this.faults[fault] ?? 0) + 1
  }
}

/** What a stopped process says does not reach its clients. */
const heard = (call: ClientCall, outcome: Outcome): void => {
  if (!call.node.isStopped) call.outcome ??= outcome
}

const told = (call: ClientCall, costMicroUsd: number, isCappedByFunds = false): void => {
  call.toldMicroUsd = costMicroUsd
  heard(call, { _tag: "Complete", costMicroUsd, isCappedByFunds })
}

const failed = (cause: Cause.Cause<CallFailure>): Outcome => {
  if (Cause.isInterrupted(cause)) return { _tag: "Left" }
  const failure = Cause.failureOption(cause)
  if (Option.isNone(failure)) return { _tag: "Died", defect: Cause.pretty(cause) }
  return { _tag: "Failed", code: failure.value._tag }
}
