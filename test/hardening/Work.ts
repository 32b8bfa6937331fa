import { Session } from "node:inspector"
import { GCProfiler } from "node:v8"

/** What a run costs, in counts: the machine may be as busy as it likes. */
export interface Work {
  /** Executions of all blocks of the measured sources. */
  readonly blocks: number
  /** Allocated on the heap, whatever became of it. */
  readonly bytes: number
}

/** Counts the work of code whose file is `measured`; native functions are only seen by what they allocate. */
export class WorkMeter {
  private readonly session = new Session()
  private readonly measured: (url: string) => boolean

  constructor(measured: (url: string) => boolean) {
    this.measured = measured
    this.session.connect()
    this.post("Profiler.enable")
    this.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true })
  }

  blocksOf(run: () => unknown): number {
    this.take()
    run()
    return this.take()
  }

  close(): void {
    this.post("Profiler.stopPreciseCoverage")
    this.session.disconnect()
  }

  private take(): number {
    let blocks = 0
    this.post("Profiler.takePreciseCoverage", {}, (answer) => {
      for (const { functions, url } of answer.result) {
        if (!this.measured(url)) continue
        for (const { ranges } of functions) for (const { count } of ranges) blocks += count
      }
    })
    return blocks
  }

  /** The inspector answers before `post` returns. */
  private post(method: string, params: object = {}, onAnswer?: (answer: CoverageAnswer) => void): void {
    let failure: Error | null = null
    this.session.post(method, params, (error, answer) => {
      failure = error
      if (error === null) onAnswer?.(answer as CoverageAnswer)
    })
    if (failure !== null) throw failure
  }
}

interface CoverageAnswer {
  readonly result: ReadonlyArray<{
    readonly url: string
    readonly functions: ReadonlyArray<{ readonly ranges: ReadonlyArray<{ readonly count: number }> }>
  }>
}

/**
 * The lowest of some runs: what the compiler and the collector write for themselves meanwhile is on the same heap, and can be a
 * megabyte.
 */
export const allocatedBytes = (run: () => unknown): number => {
  let lowest = Number.POSITIVE_INFINITY
  for (let time = 0; time < runs; time++) lowest = Math.min(lowest, allocatedOnce(run))
  return lowest
}

const runs = 3

/** Between collections the heap only grows, so growth and what each collection has freed add up to what was allocated. */
const allocatedOnce = (run: () => unknown): number => {
  const profiler = new GCProfiler()
  profiler.start()
  const before = process.memoryUsage().heapUsed
  run()
  const after = process.memoryUsage().heapUsed
  let freed = 0
  for (const { afterGC, beforeGC } of profiler.stop()?.statistics ?? []) {
    freed += beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize
  }
  return after - before + freed
}
