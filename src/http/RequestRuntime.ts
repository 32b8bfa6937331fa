import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import * as Runtime from "effect/Runtime"
import * as RuntimeFlags from "effect/RuntimeFlags"
import * as Scheduler from "effect/Scheduler"

/**
 * Starts the fibers of requests. Everything they need has been taken from the services before, so they carry none along to
 * be copied; they are not timed one by one, which the gateway's own metrics do better; and they share one scheduler.
 */
export const runFork = (runtime: Runtime.Runtime<never>): ((effect: Effect.Effect<void>) => Fiber.RuntimeFiber<void>) =>
  Runtime.runFork(
    Runtime.make({
      context: Context.empty(),
      runtimeFlags: RuntimeFlags.disable(runtime.runtimeFlags, RuntimeFlags.RuntimeMetrics),
      fiberRefs: FiberRefs.updateAs(runtime.fiberRefs, {
        fiberId: FiberId.none,
        fiberRef: FiberRef.currentScheduler,
        value: new TurnScheduler()
      })
    })
  )

/**
 * Resumes all fibers that became ready in one turn of the event loop one after the other. Effect's own scheduler keeps a
 * queue and a promise for each fiber, which costs a request more than what its fiber then does.
 */
class TurnScheduler implements Scheduler.Scheduler {
  private ready: Array<Scheduler.Task> = []

  readonly shouldYield = Scheduler.defaultShouldYield

  scheduleTask(task: Scheduler.Task): void {
    if (this.ready.push(task) === 1) setImmediate(this.drain)
  }

  private readonly drain = (): void => {
    const due = this.ready
    this.ready = []
    for (const task of due) task()
  }
}
