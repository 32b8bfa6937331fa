import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Readable, Writable } from "node:stream"

const executable = "/usr/bin/chromium"

/** Browser tests are skipped where it is not installed; the reason is printed. */
export const isInstalled = existsSync(executable)
if (!isInstalled) console.warn(`${executable} is not there: tests in a browser are skipped`)

/** A page of a real browser. */
export interface Page {
  /** Navigates, and waits until what it ends at has loaded, redirects included; returns the URL with its fragment. */
  readonly open: (url: string) => Promise<string>
  /** Runs a script that navigates, such as one that sends a form; then as `open`. */
  readonly leave: (script: string) => Promise<string>
  /** The value of an expression in the page; of a promise what it resolves with. */
  readonly evaluate: <A>(expression: string) => Promise<A>
}

export interface Chromium {
  /** With cookies and storage of its own, as another person's browser. */
  readonly newProfile: () => Promise<{ readonly newPage: () => Promise<Page> }>
  readonly stop: () => Promise<void>
}

const flags = [
  "--headless=new",
  "--remote-debugging-pipe",
  // it runs as root in containers
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--no-first-run",
  // nothing but the test's own servers
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
]

/** Speaks the DevTools protocol over two pipes: JSON messages that end with a zero byte. */
export const startChromium = async (): Promise<Chromium> => {
  const profile = await mkdtemp(join(tmpdir(), "chromium-"))
  const child = spawn(executable, [...flags, `--user-data-dir=${profile}`], {
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"]
  })
  const connection = new Connection(child.stdio[3] as Writable, child.stdio[4] as Readable)
  return {
    newProfile: async () => {
      const { browserContextId } = await connection.send("Target.createBrowserContext", {})
      return {
        newPage: async () => {
          const { targetId } = await connection.send("Target.createTarget", { url: "about:blank", browserContextId })
          const { sessionId } = await connection.send("Target.attachToTarget", { targetId, flatten: true })
          await connection.send("Page.enable", {}, String(sessionId))
          return pageOf(connection, String(sessionId))
        }
      }
    },
    stop: async () => {
      const exited = once(child, "exit")
      child.kill("SIGKILL")
      await exited
      await rm(profile, { recursive: true, force: true, maxRetries: 5 })
    }
  }
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly sessionId?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: { readonly message: string }
}

type Listener = (message: Message) => void

class Connection {
  private lastId = 0
  private rest = ""
  private readonly waiting = new Map<number, (message: Message) => void>()
  private readonly listeners = new Set<Listener>()
  private readonly input: Writable

  constructor(input: Writable, output: Readable) {
    this.input = input
    output.setEncoding("utf8")
    output.on("data", (text: string) => {
      const messages = (this.rest + text).split("\0")
      this.rest = messages.pop() ?? ""
      for (const message of messages) this.receive(JSON.parse(message) as Message)
    })
  }

  listen(listener: Listener): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  async send(method: string, params: object, sessionId?: string): Promise<Record<string, unknown>> {
    const id = ++this.lastId
    const answered = new Promise<Message>((resolve) => this.waiting.set(id, resolve))
    this.input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    const { error, result } = await answered
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result ?? {}
  }

  private receive(message: Message): void {
    if (message.id === undefined) {
      for (const listener of this.listeners) listener(message)
      return
    }
    this.waiting.get(message.id)?.(message)
    this.waiting.delete(message.id)
  }
}

const pageOf = (connection: Connection, sessionId: string): Page => {
  /** Of the last navigation of the whole page: a script of the page may take the fragment away. */
  let url = "about:blank"
  const evaluate = async <A>(expression: string): Promise<A> => {
    const options = { expression, awaitPromise: true, returnByValue: true, userGesture: true }
    const { exceptionDetails, result } = await connection.send("Runtime.evaluate", options, sessionId)
    if (exceptionDetails !== undefined) throw new Error(`in the page: ${JSON.stringify(exceptionDetails)}`)
    return (result as { readonly value: A }).value
  }
  connection.listen(({ method, params, sessionId: of }) => {
    if (of !== sessionId || method !== "Page.frameNavigated") return
    const frame = params?.["frame"] as {
      readonly parentId?: string
      readonly url: string
      readonly urlFragment?: string
    }
    if (frame.parentId === undefined) url = frame.url + (frame.urlFragment ?? "")
  })
  const loaded = () =>
    new Promise<string>((resolve) => {
      const ignore = connection.listen(({ method, sessionId: of }) => {
        if (of !== sessionId || method !== "Page.loadEventFired") return
        ignore()
        resolve(url)
      })
    })
  return {
    open: async (address) => {
      const end = loaded()
      const { errorText } = await connection.send("Page.navigate", { url: address }, sessionId)
      if (errorText !== undefined) throw new Error(`${address}: ${String(errorText)}`)
      return end
    },
    leave: async (script) => {
      const end = loaded()
      await evaluate(`void (() => { ${script} })()`)
      return end
    },
    evaluate
  }
}
