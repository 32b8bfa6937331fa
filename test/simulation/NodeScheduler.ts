import type * as Scheduler from "effect/Scheduler"
import type { TimersShape } from "../../src/domain/Timers.ts"
import type { VirtualTimers } from "../../src/testing/doubles/VirtualTimers.ts"

/**
 * The event loop of one simulated process: its fibers and its timers run only while the process runs. Paused, everything
 * that becomes due waits; stopped, it never happens.
 */
export class NodeScheduler implements Scheduler.Scheduler {
  private readonly clock: VirtualTimers
  private tasks: Array<() => void> = []
  private state: "running" | "paused" | "stopped" = "running"

  constructor(clock: VirtualTimers) {
    this.clock = clock
  }

  readonly timers: TimersShape = {
    now: () => this.clock.now(),
    after: (millis, run) => {
      let isCancelled = false
      const cancel = this.clock.after(millis, () =>
        this.deliver(() => {
          if (!isCancelled) run()
        })
      )
      return () => {
        isCancelled = true
        cancel()
      }
    }
  }

  /** An event from outside, such as a response of the database. */
  deliver(event: () => void): void {
    if (this.state === "running") event()
    else if (this.state === "paused") this.tasks.push(event)
  }

  scheduleTask(task: () => void): void {
    if (this.state !== "stopped") this.tasks.push(task)
  }

  shouldYield(): false {
    return false
  }

  /** Runs every task that can run; false when there was none. */
  drain(): boolean {
    if (this.state !== "running" || this.tasks.length === 0) return false
    while (this.tasks.length > 0) {
      const tasks = this.tasks
      this.tasks = []
      for (const task of tasks) task()
    }
    return true
  }

  pause(): void {
    if (this.state === "running") this.state = "paused"
  }

  resume(): void {
    if (this.state === "paused") this.state = "running"
  }

  stop(): void {
    this.state = "stopped"
    this.tasks = []
  }
}
