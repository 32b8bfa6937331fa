import { useDocumentVisibility } from "@mantine/hooks"
import { useCallback, useEffect, useRef, useState } from "react"
import { addCall } from "../../api/calls.ts"
import { serverEventsOf } from "../../api/events.ts"
import { ApiFailure, failureOf, unreachable } from "../../api/failure.ts"
import { pageToken, sessionEnded } from "../../api/session.ts"
import { applied, type ChatState, cursorOf, nothing, parsed, type StartedTurn, started } from "./conversation.ts"

/** After so many failures in a row the page says so; it goes on asking, less and less often. */
const maxFailures = 4
const retryMillis = 500
const maxRetryMillis = 15_000
/** The service sends something every 15 seconds: after a longer silence the connection is lost, without the browser being told. */
const maxSilentMillis = 40_000

/**
 * The conversation as it is written. The tab follows it only while it is shown and something is written, by one stream; after a
 * break it goes on from what it has.
 */
export const useConversation = (id: string, onEnd: () => void) => {
  const latest = useRef<ChatState>(nothing)
  const [state, setState] = useState<ChatState>(nothing)
  const [error, setError] = useState<unknown>(null)
  const [turn, setTurn] = useState(0)
  const isVisible = useDocumentVisibility() === "visible"
  const ended = useRef(onEnd)
  ended.current = onEnd

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new turn is followed anew
  useEffect(() => {
    if (!isVisible) return
    const controller = new AbortController()
    let frame = 0
    // at most one commit a frame, however fast the text comes
    const show = () => {
      frame = 0
      setState(latest.current)
    }
    // also an answer that was begun elsewhere
    let wasRunning = latest.current.conversation?.running ?? false
    const follow = async () => {
      for (let failures = 0; !controller.signal.aborted; ) {
        let isMissing = false
        try {
          for await (const event of eventsFrom(id, cursorOf(latest.current), controller.signal)) {
            failures = 0
            const next = applied(latest.current, event)
            latest.current = next ?? nothing
            wasRunning ||= latest.current.conversation?.running ?? false
            isMissing = next === undefined
            // everything is asked for again, at once
            if (isMissing) break
            if (frame === 0) frame = requestAnimationFrame(show)
          }
          setError(null)
          if (latest.current.conversation?.running === false) {
            if (wasRunning) ended.current()
            return
          }
        } catch (thrown) {
          if (controller.signal.aborted) return
          const isPassing = thrown instanceof ApiFailure && (thrown.status === 0 || thrown.status >= 500)
          failures += 1
          if (!isPassing || failures >= maxFailures) setError(thrown)
          if (!isPassing) return
        }
        const waitMillis = isMissing ? 0 : Math.min(maxRetryMillis, retryMillis * 2 ** failures)
        await new Promise((resolve) => setTimeout(resolve, waitMillis))
      }
    }
    void follow()
    return () => {
      controller.abort()
      cancelAnimationFrame(frame)
    }
  }, [id, turn, isVisible])

  const again = useCallback(() => {
    setError(null)
    setTurn((before) => before + 1)
  }, [])
  useEffect(() => {
    // what was open before may never bring anything more
    addEventListener("online", again)
    return () => removeEventListener("online", again)
  }, [again])

  return {
    state,
    error,
    begin: (asked: StartedTurn) => {
      latest.current = started(latest.current, asked)
      setState(latest.current)
      setTurn((before) => before + 1)
    },
    again
  }
}

async function* eventsFrom(id: string, cursor: string | undefined, signal: AbortSignal) {
  const query = cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`
  const url = `${location.origin}/api/chat/conversations/${id}/events${query}`
  const token = pageToken()
  const sentAt = performance.now()
  const silence = limitSilence(signal)
  try {
    const response = await fetch(url, { headers: { "x-csrf-token": token ?? "" }, signal: silence.signal }).catch(
      () => {
        throw unreachable()
      }
    )
    const requestId = response.headers.get("x-request-id")
    const millis = Math.round(performance.now() - sentAt)
    addCall({ method: "GET", url, body: null, status: response.status, millis, requestId })
    if (!response.ok || response.body === null) {
      if (response.status === 401) sessionEnded(token)
      throw failureOf(response, await response.json().catch(() => undefined))
    }
    yield* chatEventsOf(response.body, silence.heard)
  } finally {
    silence.end()
  }
}

async function* chatEventsOf(body: ReadableStream<Uint8Array>, onBytes: () => void) {
  try {
    for await (const { data, name } of serverEventsOf(body, onBytes)) {
      const event = parsed(name, data)
      if (event !== undefined) yield event
    }
  } catch {
    throw unreachable()
  }
}

/** A signal that also ends what is silent for too long. */
const limitSilence = (signal: AbortSignal) => {
  const controller = new AbortController()
  const abort = () => controller.abort()
  signal.addEventListener("abort", abort)
  let timer = setTimeout(abort, maxSilentMillis)
  return {
    signal: controller.signal,
    heard: () => {
      clearTimeout(timer)
      timer = setTimeout(abort, maxSilentMillis)
    },
    end: () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", abort)
    }
  }
}
