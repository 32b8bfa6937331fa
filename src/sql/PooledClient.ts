// @effect-diagnostics globalTimers:off
import Pg from "pg"

type Release = (error?: Error | boolean) => void

/** What the driver has not answered yet; it has no public name. */
interface Statements {
  readonly _activeQuery: unknown
  readonly _queryQueue: ReadonlyArray<unknown>
}

/** Of the pool, which makes its clients with its own options. */
export interface PooledClientConfig extends Pg.ClientConfig {
  /** Without a response to a statement for so long the connection is given up; by default it is waited for. */
  readonly maxResponseMillis?: number
  /** The same for a statement that was interrupted, from then on. */
  readonly maxAbandonedMillis?: number
}

/**
 * A client that returns to its pool when it is free. An interrupted statement goes on in the server for a while, and sql-pg
 * releases its client at once: the driver would queue the statements of whoever takes the client next, which pg 8 warns of and
 * pg 9 will refuse.
 */
export class PooledClient extends Pg.Client {
  private releaseToPool: Release | undefined
  private readonly maxResponseMillis: number | undefined
  private readonly maxAbandonedMillis: number | undefined
  private giveUp: NodeJS.Timeout | undefined

  constructor(config?: PooledClientConfig) {
    super(config)
    this.maxResponseMillis = config?.maxResponseMillis
    this.maxAbandonedMillis = config?.maxAbandonedMillis
    // pool and users listen only while they have the client: one that breaks on its way back would end the process
    this.on("error", () => {})
    for (const over of ["drain", "end"] as const) this.on(over, () => clearTimeout(this.giveUp))
  }

  /** The server's own timeout does not help where its response cannot arrive: such a connection can stay open for a quarter of an hour. */
  override query(...given: ReadonlyArray<unknown>): never {
    this.giveUpAfter(this.maxResponseMillis)
    return super.query(...(given as [never])) as never
  }

  /** The pool sets it whenever it hands out the client, and its users read it. */
  set release(release: Release) {
    this.releaseToPool = release
  }

  get release(): Release {
    const release = this.releaseToPool
    if (release === undefined) throw new Error("the client was not handed out by a pool")
    return (error) => {
      const isBroken = error !== undefined && error !== false
      if (isBroken || !this.isBusy) return release(error)
      this.giveUpAfter(this.maxAbandonedMillis)
      const free = (): void => {
        this.off("drain", free)
        this.off("end", lost)
        release()
      }
      const lost = (): void => {
        this.off("drain", free)
        release(new Error("the connection has ended"))
      }
      this.once("drain", free)
      this.once("end", lost)
    }
  }

  /** Unless it is free before. */
  private giveUpAfter(millis: number | undefined): void {
    if (millis === undefined) return
    clearTimeout(this.giveUp)
    this.giveUp = setTimeout(() => this.connection.stream.destroy(), millis)
  }

  private get isBusy(): boolean {
    const { _activeQuery, _queryQueue } = this as unknown as Statements
    return (_activeQuery !== null && _activeQuery !== undefined) || _queryQueue.length > 0
  }
}
