import Anthropic, { APIError as AnthropicError } from "@anthropic-ai/sdk"
import OpenAI, { APIError } from "openai"
import { callerKey } from "../support/InProcess.ts"

/** What the official client makes of an answer. */
export interface ClientVerdict {
  readonly ends: "answered" | "refused" | "broken"
  readonly text: string
  readonly status: number
  readonly code: string | null
  readonly headers: Headers
  /** Every byte of the body. */
  readonly raw: string
  /** The event is there that ends a stream after success. */
  readonly isDone: boolean
  readonly requestId: string
}

export interface VerdictRequest {
  readonly endpoint: "chat" | "responses" | "messages"
  readonly stream: boolean
  /** Beside model and prompt. */
  readonly more: Readonly<Record<string, unknown>>
}

const prompt = "Count to sixty."

/** Asks as an application would and reports what it is left with; it never retries. */
export const verdictOf = async (
  url: string,
  model: string,
  { endpoint, more, stream }: VerdictRequest
): Promise<ClientVerdict> => {
  let body: Promise<string> = Promise.resolve("")
  let response = new Response()
  const watched = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    // the client leaves at the first error; what follows it is looked at all the same
    const { signal: _, ...rest } = init ?? {}
    const real = await fetch(input, rest)
    if (real.body === null) return real
    const [shown, kept] = real.body.tee()
    body = new Response(kept).text().catch(() => "")
    response = real
    return new Response(shown, { status: real.status, headers: real.headers })
  }
  const options = { apiKey: callerKey, maxRetries: 0, fetch: watched }
  const clients: Clients = {
    openai: new OpenAI({ ...options, baseURL: `${url}/v1` }),
    anthropic: new Anthropic({ ...options, baseURL: url })
  }
  let text = ""
  const tell = (piece: string): void => {
    text += piece
  }
  const failure = await asks[endpoint](clients, model, stream, more, tell).then(
    (code) => code,
    (error: unknown) => codeOf(error)
  )
  const raw = await body
  const ends = failure === undefined ? "answered" : response.status === 200 ? "broken" : "refused"
  return {
    ends,
    text,
    status: response.status,
    code: failure ?? null,
    headers: response.headers,
    raw,
    isDone: raw.includes(endpoint === "messages" ? "event: message_stop" : "data: [DONE]"),
    requestId: response.headers.get("x-request-id") ?? ""
  }
}

interface Clients {
  readonly openai: OpenAI
  readonly anthropic: Anthropic
}

type Ask = (
  clients: Clients,
  model: string,
  stream: boolean,
  more: Readonly<Record<string, unknown>>,
  tell: (piece: string) => void
) => Promise<string | undefined>

const chat: Ask = async ({ openai: client }, model, stream, more, tell) => {
  const request = { ...more, model, messages: [{ role: "user" as const, content: prompt }] }
  if (!stream) {
    const { choices } = await client.chat.completions.create(request)
    tell(choices[0]?.message.content ?? "")
    return undefined
  }
  for await (const { choices } of await client.chat.completions.create({ ...request, stream: true })) {
    tell(choices[0]?.delta.content ?? "")
  }
  return undefined
}

const responses: Ask = async ({ openai: client }, model, stream, more, tell) => {
  const request = { ...more, model, input: prompt }
  if (!stream) {
    const answer = await client.responses.create(request)
    tell(answer.output_text)
    return answer.error?.code
  }
  let failure: string | undefined
  for await (const event of await client.responses.create({ ...request, stream: true })) {
    if (event.type === "response.output_text.delta") tell(event.delta)
    if (event.type === "error") failure ??= event.code ?? "?"
    if (event.type === "response.failed") failure ??= event.response.error?.code ?? "?"
  }
  return failure
}

const messages: Ask = async ({ anthropic: client }, model, stream, more, tell) => {
  const request = { ...more, model, max_tokens: 4_096, messages: [{ role: "user" as const, content: prompt }] }
  if (!stream) {
    const { content } = await client.messages.create(request)
    for (const block of content) if (block.type === "text") tell(block.text)
    return undefined
  }
  for await (const event of await client.messages.create({ ...request, stream: true })) {
    if (event.type === "content_block_delta" && event.delta.type === "text_delta") tell(event.delta.text)
  }
  return undefined
}

const asks: Readonly<Record<VerdictRequest["endpoint"], Ask>> = { chat, responses, messages }

const codeOf = (error: unknown): string => {
  if (error instanceof AnthropicError) {
    const { error: { code } = {} } = error.error as { readonly error?: { readonly code?: string } }
    return code ?? "?"
  }
  if (!(error instanceof APIError)) throw error
  return error.code ?? "?"
}
