// @effect-diagnostics globalTimers:off
import Pg from "pg"
import { requestCancel } from "./CancelRequest.ts"

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
  /** A statement that was interrupted and has not ended for so long is cancelled in the server; by default it is not. */
  readonly cancelAfterMillis?: number
}

/**
 * A client that returns to its pool when it is free. An interrupted statement goes on in the server for a while, and sql-pg
 * releases its client at once: the driver would queue the statements of whoever takes the client next, which pg 8 warns of and
 * pg 9 will refuse. Its cancel requests are this class's: those of sql-pg wait for a connection of the pool while the client is back
 * in it, and end the statement of whoever has it by then.
 */
export class PooledClient extends Pg.Client {
  private releaseToPool: Release | undefined
  private readonly maxResponseMillis: number | undefined
  private readonly maxAbandonedMillis: number | undefined
  private readonly cancelAfterMillis: number | undefined
  private giveUp: NodeJS.Timeout | undefined
  /** Of the server's process: what a cancel request names. */
  private backendId: number | null = null
  declare private readonly secretKey: number | null
  declare private readonly sslNegotiation: string

  constructor(config?: PooledClientConfig) {
    super(config)
    this.maxResponseMillis = config?.maxResponseMillis
    this.maxAbandonedMillis = config?.maxAbandonedMillis
    this.cancelAfterMillis = config?.cancelAfterMillis
    // pool and users listen only while they have the client: one that breaks on its way back would end the process
    this.on("error", () => {})
    for (const over of ["drain", "end"] as const) this.on(over, () => clearTimeout(this.giveUp))
  }

  /** The driver sets it; sql-pg cancels nothing where it reads none. */
  set processID(id: number | null) {
    this.backendId = id
  }

  get processID(): undefined {
    return undefined
  }

  /**
   * The server's own timeout does not help where its response cannot arrive: such a connection can stay open for a quarter of an hour.
   * What comes while another statement runs waits for its end; a rollback then ends a statement that was interrupted.
   */
  override query(...given: ReadonlyArray<unknown>): never {
    if (this.isBusy && typeof given.at(-1) === "function") {
      this.whenFree(isRollback(given[0]), () => this.query(...given))
      return undefined as never
    }
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
      this.whenFree(true, (isEnded) => release(isEnded ? new Error("the connection has ended") : undefined))
    }
  }

  /** After what runs, and after the request to cancel it: one that is still on its way would end the next statement. */
  private whenFree(isInterrupted: boolean, then: (isEnded: boolean) => void): void {
    let isRunning = true
    let isOver = false
    let giveUpRequest: (() => void) | undefined
    const finish = (isEnded: boolean): void => {
      if (isOver) return
      isOver = true
      this.off("drain", drained)
      this.off("end", ended)
      clearTimeout(timer)
      clearTimeout(this.giveUp)
      giveUpRequest?.()
      then(isEnded)
    }
    const drained = (): void => {
      isRunning = false
      clearTimeout(timer)
      if (giveUpRequest === undefined) finish(false)
      else this.giveUpAfter(this.maxAbandonedMillis)
    }
    const ended = (): void => finish(true)
    const cancel = (): void => {
      const { backendId, secretKey } = this
      if (backendId === null || secretKey === null) return
      const { host, port, ssl, sslNegotiation } = this
      giveUpRequest = requestCancel({ host, port, ssl, sslNegotiation, processId: backendId, secretKey }, () => {
        giveUpRequest = undefined
        if (!isRunning) finish(false)
      })
    }
    const { cancelAfterMillis, maxAbandonedMillis } = this
    const timer = isInterrupted && cancelAfterMillis !== undefined ? setTimeout(cancel, cancelAfterMillis) : undefined
    if (isInterrupted) this.giveUpAfter(maxAbandonedMillis)
    this.once("drain", drained)
    this.once("end", ended)
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

const isRollback = (text: unknown): boolean => typeof text === "string" && text.startsWith("ROLLBACK")
