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
  readonly requestId: string
}

export interface VerdictRequest {
  readonly endpoint: "chat" | "responses"
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
  const client = new OpenAI({
    apiKey: callerKey,
    baseURL: `${url}/v1`,
    maxRetries: 0,
    fetch: async (input, init) => {
      // the client leaves at the first error; what follows it is looked at all the same
      const { signal: _, ...rest } = init ?? {}
      const real = await fetch(input, rest)
      if (real.body === null) return real
      const [shown, kept] = real.body.tee()
      body = new Response(kept).text().catch(() => "")
      response = real
      return new Response(shown, { status: real.status, headers: real.headers })
    }
  })
  let text = ""
  const tell = (piece: string): void => {
    text += piece
  }
  const ask = endpoint === "chat" ? chat : responses
  const failure = await ask(client, model, stream, more, tell).then(
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
    requestId: response.headers.get("x-request-id") ?? ""
  }
}

type Ask = (
  client: OpenAI,
  model: string,
  stream: boolean,
  more: Readonly<Record<string, unknown>>,
  tell: (piece: string) => void
) => Promise<string | undefined>

const chat: Ask = async (client, model, stream, more, tell) => {
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

const responses: Ask = async (client, model, stream, more, tell) => {
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

const codeOf = (error: unknown): string => {
  if (!(error instanceof APIError)) throw error
  return error.code ?? "?"
}
