import { addCall } from "./calls.ts"
import { serverEventsOf } from "./events.ts"
import { ApiFailure, failureOf, unreachable } from "./failure.ts"
import { pageToken, sessionEnded } from "./session.ts"

/** What the page reads of `router_metadata`. */
export interface CallMetadata {
  readonly request_id: string
  readonly provider: string | null
  readonly model: string | null
  readonly reason: string
  readonly latency_ms: number
  readonly first_content_ms: number | null
  readonly attempts: ReadonlyArray<{ readonly model: string; readonly status: string }>
  readonly cost: { readonly amount_microusd: number; readonly basis: string }
}

interface Chunk {
  readonly choices?: ReadonlyArray<{ readonly delta?: { readonly content?: string | null } }>
  readonly router_metadata?: CallMetadata
  readonly error?: ApiFailure["error"]
}

interface Asked {
  readonly project: string
  readonly model: string
  readonly text: string
  readonly signal: AbortSignal
  readonly onText: (text: string) => void
}

/** One message as the signed-in person, streamed; ends with what the call cost. */
export const ask = async ({ model, onText, project, signal, text }: Asked): Promise<CallMetadata | undefined> => {
  const url = `${location.origin}/api/projects/${project}/chat/completions`
  const body = JSON.stringify({ model, stream: true, messages: [{ role: "user", content: text }] })
  const token = pageToken()
  const started = performance.now()
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-csrf-token": token ?? "" },
    body,
    signal
  }).catch((thrown: unknown) => {
    throw thrown instanceof DOMException && thrown.name === "AbortError" ? thrown : unreachable()
  })
  const requestId = response.headers.get("x-request-id")
  addCall({
    method: "POST",
    url,
    body,
    status: response.status,
    millis: Math.round(performance.now() - started),
    requestId
  })
  if (!response.ok || response.body === null) {
    if (response.status === 401) sessionEnded(token)
    throw failureOf(response, await response.json().catch(() => undefined))
  }
  let metadata: CallMetadata | undefined
  let isDone = false
  for await (const { data } of serverEventsOf(response.body)) {
    if (data === "[DONE]") {
      isDone = true
      continue
    }
    const chunk = JSON.parse(data) as Chunk
    if (chunk.error !== undefined) throw new ApiFailure(response.status, chunk.error, { requestId })
    metadata = chunk.router_metadata ?? metadata
    const content = chunk.choices?.[0]?.delta?.content
    if (content !== undefined && content !== null && content !== "") onText(content)
  }
  if (!isDone) throw unreachable()
  return metadata
}
