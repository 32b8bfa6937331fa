import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Schema } from "effect/Schema"
import type {
  ChatMessageOut,
  ConversationDetailOut,
  ConversationOut,
  StartedTurnOut
} from "../../src/wire/account/Chat.ts"
import { openDatabase, type Person, startNode } from "./AccountService.ts"
import { masterKey } from "./Service.ts"
import * as Upstream from "./Upstream.ts"

export type Conversation = Schema.Encoded<typeof ConversationOut>
export type Detail = Schema.Encoded<typeof ConversationDetailOut>
export type Message = Schema.Encoded<typeof ChatMessageOut>
export type Started = Schema.Encoded<typeof StartedTurnOut>

/** A response of the upstream that the test writes piece by piece. */
export interface Talk {
  readonly received: Upstream.Received
  readonly say: (text: string) => void
  readonly think: (text: string) => void
  readonly call: (index: number, name: string, json: string) => void
  readonly callMore: (index: number, json: string) => void
  readonly finish: (reason?: "stop" | "tool_calls") => void
  readonly breakOff: () => void
}

const chunk = (delta: object, reason: string | null = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "up", choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`

/** An upstream each of whose calls is handed to the test. */
export const startTalker = async () => {
  const talks: Array<Talk> = []
  const waiting: Array<() => void> = []
  const upstream = await Upstream.start((received, response) => {
    if (/^status-\d+$/.test(received.model)) {
      Upstream.byModel(received, response, upstream)
      return
    }
    response.writeHead(200, { "content-type": "text/event-stream" })
    talks.push({
      received,
      say: (content) => response.write(chunk({ content })),
      think: (reasoning_content) => response.write(chunk({ reasoning_content })),
      call: (index, name, json) =>
        response.write(
          chunk({
            tool_calls: [{ index, id: `call_${index}`, type: "function", function: { name, arguments: json } }]
          })
        ),
      callMore: (index, json) => response.write(chunk({ tool_calls: [{ index, function: { arguments: json } }] })),
      finish: (reason = "stop") => {
        response.write(chunk({}, reason))
        response.end("data: [DONE]\n\n")
      },
      breakOff: () => response.destroy()
    })
    for (const wake of waiting.splice(0)) wake()
  })
  /** The n-th call, from 0, once it has come. */
  const talk = async (index: number): Promise<Talk> => {
    for (;;) {
      const found = talks[index]
      if (found !== undefined) return found
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
  }
  return { ...upstream, talk, talks }
}
export type Talker = Awaited<ReturnType<typeof startTalker>>

const limits = {
  inputPriceMicroUsdPerMillion: 1_000_000,
  outputPriceMicroUsdPerMillion: 2_000_000,
  contextTokens: 100_000,
  outputTokens: 10_000
}

const models = ["large", "small", "status-500"]

/** Settings of a service whose models the talker is; its key is in PROVIDER_KEY. */
export const configOf = (talker: Talker) => ({
  providers: [
    {
      id: "acme",
      protocol: "openai-chat",
      baseUrl: talker.baseUrl,
      apiKeyEnv: "PROVIDER_KEY",
      models: models.map((name) => ({ id: `acme/${name}`, ...limits, capabilities: ["tools", "vision"] }))
    }
  ]
})

/** A database, a file for settings and what else several nodes of one service share. */
export const openService = async (kind: "embedded" | "PostgreSQL", talker: Talker) => {
  const database = await openDatabase(kind)
  const directory = await mkdtemp(join(tmpdir(), "chat-"))
  const config = join(directory, "config.json")
  await writeFile(config, JSON.stringify(configOf(talker)))
  const env: Readonly<Record<string, string>> = {
    ...database.env,
    GATEWAY_CONFIG: config,
    GATEWAY_MASTER_KEY: masterKey,
    PROVIDER_KEY: "sk-upstream"
  }
  return {
    env,
    node: () => startNode(env),
    close: async () => {
      await database.close()
      await rm(directory, { recursive: true, force: true })
    }
  }
}

export const jsonOf = async <A>(response: Response | Promise<Response>, status = 200): Promise<A> => {
  const answer = await response
  const text = await answer.text()
  if (answer.status !== status) throw new Error(`${answer.status} ${text}`)
  return JSON.parse(text) as A
}

export const codeOf = async (response: Response | Promise<Response>): Promise<readonly [number, string]> => {
  const answer = await response
  return [answer.status, ((await answer.json()) as { readonly error: { readonly code: string } }).error.code]
}

/** One event of a conversation. */
export interface Event {
  readonly name: string
  readonly id: string | undefined
  readonly data: Readonly<Record<string, unknown>>
}

/** A reader of a conversation that follows the rules for clients. */
export class Reader {
  readonly events: Array<Event> = []
  /** By message, as a client puts it together. */
  readonly texts = new Map<string, string>()
  readonly reasonings = new Map<string, string>()
  /** Pieces that began behind the end of what was known: never one. */
  gaps = 0
  lastId: string | undefined
  done: Promise<void> = Promise.resolve()
  private readonly abort = new AbortController()
  private readonly waiting: Array<() => void> = []

  constructor(known?: Pick<Reader, "texts" | "lastId">) {
    if (known === undefined) return
    for (const [id, text] of known.texts) this.texts.set(id, text)
    this.lastId = known.lastId
  }

  /** Reads until the stream ends or `leave` is called. */
  async open(url: string, person: Person, conversation: string, cursor?: string): Promise<this> {
    const query = cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`
    const response = await fetch(`${url}/api/chat/conversations/${conversation}/events${query}`, {
      headers: { authorization: `Bearer ${person.token}` },
      signal: this.abort.signal
    })
    if (response.status !== 200 || response.body === null)
      throw new Error(`${response.status} ${await response.text()}`)
    const { body } = response
    this.done = (async () => {
      const decoder = new TextDecoder()
      let rest = ""
      try {
        for await (const part of body) {
          rest += decoder.decode(part as Uint8Array, { stream: true })
          const frames = rest.split("\n\n")
          rest = frames.pop() ?? ""
          for (const frame of frames) this.take(frame)
        }
      } catch (error) {
        if (!this.abort.signal.aborted) throw error
      }
      for (const wake of this.waiting.splice(0)) wake()
    })()
    return this
  }

  async leave(): Promise<void> {
    this.abort.abort()
    await this.done
  }

  /** Once the condition holds. */
  async until(condition: (reader: this) => boolean): Promise<void> {
    while (!condition(this)) {
      const ended = await Promise.race([
        new Promise<false>((resolve) => this.waiting.push(() => resolve(false))),
        this.done.then(() => true)
      ])
      if (ended && !condition(this)) throw new Error(`the stream has ended: ${JSON.stringify(this.events)}`)
    }
  }

  named(name: string): ReadonlyArray<Event> {
    return this.events.filter((event) => event.name === name)
  }

  take(frame: string): void {
    const field = (name: string) =>
      frame
        .split("\n")
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2)
    const [name, data, id] = [field("event"), field("data"), field("id")]
    if (name === undefined || data === undefined) return
    const event = { name, id, data: JSON.parse(data) as Event["data"] }
    this.events.push(event)
    if (id !== undefined) this.lastId = id
    if (name === "snapshot") this.replace(event.data as unknown as Detail)
    if (name === "delta") this.append(this.texts, event.data as unknown as Delta)
    if (name === "reasoning") this.append(this.reasonings, event.data as unknown as Delta)
    if (name === "message")
      this.texts.set((event.data as unknown as Message).id, (event.data as unknown as Message).content)
    for (const wake of this.waiting.splice(0)) wake()
  }

  private replace({ messages }: Detail): void {
    this.texts.clear()
    this.reasonings.clear()
    for (const { content, id, reasoning } of messages) {
      this.texts.set(id, content)
      this.reasonings.set(id, reasoning)
    }
  }

  private append(texts: Map<string, string>, { message_id, offset, text }: Delta): void {
    const known = texts.get(message_id) ?? ""
    if (offset > known.length) this.gaps += 1
    else texts.set(message_id, known + text.slice(known.length - offset))
  }
}

interface Delta {
  readonly message_id: string
  readonly offset: number
  readonly text: string
}

/** A conversation of a person, over HTTP. */
export const talkOf = (person: Person) => {
  const root = "/api/chat/conversations"
  return {
    create: async (projectId: string, title?: string) =>
      jsonOf<Conversation>(
        person.send("POST", root, { project_id: projectId, ...(title === undefined ? {} : { title }) }),
        201
      ),
    ask: (id: string, content: string, settings: object = {}) =>
      jsonOf<Started>(
        person.send("POST", `${root}/${id}/messages`, { content, model: "acme/large", artifacts: false, ...settings }),
        202
      ),
    read: (id: string) => jsonOf<Detail>(person.send("GET", `${root}/${id}`)),
    stop: (id: string) => jsonOf<Conversation>(person.send("POST", `${root}/${id}/stop`))
  }
}
