import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import * as Runtime from "effect/Runtime"
import * as RuntimeFlags from "effect/RuntimeFlags"
import * as Scheduler from "effect/Scheduler"
import type { RequestId } from "../domain/Ids.ts"
import * as Stalls from "../observe/Stalls.ts"

/** Starts the fiber of a request. */
export type Fork = (requestId: RequestId, effect: Effect.Effect<void>) => Fiber.RuntimeFiber<void>

/**
 * Starts the fibers of requests. Everything they need has been taken from the services before, so they carry none along to
 * be copied; they are not timed one by one, which the gateway's own metrics do better; and they share one scheduler.
 */
export const makeFork = (runtime: Runtime.Runtime<never>): Fork => {
  const scheduler = new TurnScheduler()
  const fork = Runtime.runFork(
    Runtime.make({
      context: Context.empty(),
      runtimeFlags: RuntimeFlags.disable(runtime.runtimeFlags, RuntimeFlags.RuntimeMetrics),
      fiberRefs: FiberRefs.updateAs(runtime.fiberRefs, {
        fiberId: FiberId.none,
        fiberRef: FiberRef.currentScheduler,
        value: scheduler
      })
    })
  )
  return (requestId, effect) => {
    const fiber = Stalls.timed(requestId, "start", () => fork(effect))
    scheduler.name(fiber, requestId)
    return fiber
  }
}

type AnyFiber = Fiber.RuntimeFiber<unknown, unknown>

/**
 * Resumes all fibers that became ready in one turn of the event loop one after the other. Effect's own scheduler keeps a
 * queue and a promise for each fiber, which costs a request more than what its fiber then does.
 */
class TurnScheduler implements Scheduler.Scheduler {
  private ready: Array<Scheduler.Task> = []
  /** The fiber of each ready task. */
  private owners: Array<AnyFiber | undefined> = []
  private readonly requests = new Map<AnyFiber, RequestId>()

  readonly shouldYield = Scheduler.defaultShouldYield

  scheduleTask(task: Scheduler.Task, _priority: number, fiber?: AnyFiber): void {
    this.owners.push(fiber)
    if (this.ready.push(task) === 1) setImmediate(this.drain)
  }

  /** A stall of the fiber is told with this id. */
  name(fiber: AnyFiber, requestId: RequestId): void {
    this.requests.set(fiber, requestId)
    fiber.addObserver(() => this.requests.delete(fiber))
  }

  private readonly drain = (): void => {
    const [due, owners] = [this.ready, this.owners]
    this.ready = []
    this.owners = []
    let fromMillis = performance.now()
    let at = 0
    for (const task of due) {
      const owner = owners[at++]
      // asked before: the request may be over after its task
      const requestId = owner === undefined ? undefined : this.requests.get(owner)
      task()
      const untilMillis = performance.now()
      if (untilMillis - fromMillis >= Stalls.stallMillis) Stalls.stalled(requestId, "fiber", fromMillis, untilMillis)
      fromMillis = untilMillis
    }
  }
}
