import { parentPort } from "node:worker_threads"
import { EngineSession, type FromEngine, type ToEngine } from "../EngineSession.ts"

/** The thread of one analysis: byte-pair encoding and re-billing take seconds, which calls must not wait for. */

let session: EngineSession | undefined

const answer = (message: ToEngine): FromEngine => {
  if (message.type === "open") {
    session = new EngineSession(message.caches)
    return { ok: true }
  }
  if (session === undefined) return { ok: false, error: "the session is not open" }
  if (message.type === "add") {
    session.add(message.conversation, message.calls)
    return { ok: true }
  }
  return { ok: true, reported: session.report(message.input) }
}

parentPort?.on("message", (message: ToEngine) => {
  let reply: FromEngine
  try {
    reply = answer(message)
  } catch (error) {
    reply = { ok: false, error: error instanceof Error ? error.message : String(error) }
  }
  parentPort?.postMessage(reply)
})
