import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import * as Runtime from "effect/Runtime"
import * as RuntimeFlags from "effect/RuntimeFlags"
import * as Scheduler from "effect/Scheduler"
import type { RequestId } from "../../domain/Ids.ts"
import * as Stalls from "../../observe/Stalls.ts"

export interface RequestRuntime {
  /** Starts the fiber of a request. */
  readonly fork: (requestId: RequestId, effect: Effect.Effect<void>) => Fiber.RuntimeFiber<void>
  /** A connection was accepted: more connections may wait. */
  readonly accepted: () => void
}

/**
 * Starts the fibers of requests. Their dependencies were taken from the services before, so the fibers have an empty context;
 * Effect's runtime metrics are off, since the gateway has its own metrics; and all fibers share one scheduler.
 */
export const make = (
  runtime: Runtime.Runtime<never>,
  onTurn: (fibersMillis: number) => void = () => {}
): RequestRuntime => {
  const scheduler = new TurnScheduler(onTurn)
  const fork = Runtime.runFork(
    Runtime.make({
      context: Context.empty(),
      runtimeFlags: RuntimeFlags.disable(runtime.runtimeFlags, RuntimeFlags.RuntimeMetrics),
      fiberRefs: FiberRefs.updateAs(changed(runtime.fiberRefs), {
        fiberId: FiberId.none,
        fiberRef: FiberRef.currentScheduler,
        value: scheduler
      })
    })
  )
  return {
    fork: (requestId, effect) => {
      const fiber = Stalls.timed(requestId, "start", () => fork(effect))
      scheduler.name(fiber, requestId)
      return fiber
    },
    accepted: scheduler.accepted
  }
}

const initial = FiberRefs.empty()

/** Without those that have their initial value: every fiber that is started copies each of them. */
const changed = ({ locals }: FiberRefs.FiberRefs): FiberRefs.FiberRefs =>
  FiberRefs.unsafeMake(
    new Map([...locals].filter(([ref, [[, value]]]) => value !== FiberRefs.getOrDefault(initial, ref)))
  )

/** Turns of the event loop by which ready fibers may be delayed while connections wait to be accepted. */
const maxAcceptingTurns = 16

type AnyFiber = Fiber.RuntimeFiber<unknown, unknown>

/**
 * Resumes all fibers that became ready in one turn of the event loop, one after the other, and ignores priorities. Effect's own
 * scheduler keeps a queue and a promise for each fiber, which costs a request more than the work of its fiber.
 */
class TurnScheduler implements Scheduler.Scheduler {
  private ready: Array<Scheduler.Task> = []
  /** The fiber of each ready task. */
  private owners: Array<AnyFiber | undefined> = []
  /** By the number of the fiber's id: a map of fibers would keep ended requests in memory (see `FifoQueue`). */
  private readonly requests = new Map<number, RequestId>()
  private readonly onTurn: (fibersMillis: number) => void
  private fibersMillis = 0
  private hasAccepted = false
  private acceptingTurns = 0

  readonly shouldYield = Scheduler.defaultShouldYield

  constructor(onTurn: (fibersMillis: number) => void) {
    this.onTurn = onTurn
  }

  scheduleTask(task: Scheduler.Task, _priority: number, fiber?: AnyFiber): void {
    this.owners.push(fiber)
    if (this.ready.push(task) === 1) setImmediate(this.drain)
  }

  /** A stall of the fiber is reported with this id. */
  name(fiber: AnyFiber, requestId: RequestId): void {
    const { id } = fiber.id()
    this.requests.set(id, requestId)
    fiber.addObserver(() => this.requests.delete(id))
  }

  /**
   * libuv accepts one connection in a turn of the event loop, however many wait. On a busy node, whose turns are long, a
   * client with a new connection would wait for seconds before anything of it is seen.
   */
  readonly accepted = (): void => {
    this.hasAccepted = true
  }

  private readonly drain = (): void => {
    if (this.hasAccepted && this.acceptingTurns < maxAcceptingTurns) {
      this.hasAccepted = false
      this.acceptingTurns += 1
      setImmediate(this.drain)
      return
    }
    this.acceptingTurns = 0
    const [due, owners] = [this.ready, this.owners]
    this.ready = []
    this.owners = []
    this.onTurn(this.fibersMillis)
    const startedAtMillis = performance.now()
    let fromMillis = startedAtMillis
    let at = 0
    for (const task of due) {
      const owner = owners[at++]
      // read before the task runs: the request may be removed by its task
      const requestId = owner === undefined ? undefined : this.requests.get(owner.id().id)
      task()
      const untilMillis = performance.now()
      if (untilMillis - fromMillis >= Stalls.stallMillis) Stalls.stalled(requestId, "fiber", fromMillis, untilMillis)
      fromMillis = untilMillis
    }
    this.fibersMillis = fromMillis - startedAtMillis
  }
}
