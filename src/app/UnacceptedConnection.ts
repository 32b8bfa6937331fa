import type { Worker } from "node:cluster"

interface Handle {
  readonly close: () => void
}

/**
 * Closes the connection that a worker was given and has not answered when it ends. Node's supervisor gives each worker one
 * connection at a time and waits for the answer whether it is accepted; that of a killed worker never comes, and the client of
 * the connection would wait forever. Node tells of these messages by events of its own alone.
 */
export const closeWithWorker = (worker: Worker): void => {
  const { process } = worker
  const { send } = process
  let unanswered: Handle | undefined
  const noting = (...message: ReadonlyArray<unknown>): boolean => {
    const [, handle] = message
    if (isHandle(handle)) unanswered = handle
    return Reflect.apply(send, process, message)
  }
  Object.assign(process, { send: noting })
  // before node gives the worker the next one, and another worker the one that this does not accept
  process.prependListener("internalMessage", (message: unknown) => {
    if (typeof message === "object" && message !== null && "ack" in message) unanswered = undefined
  })
  worker.once("exit", () => unanswered?.close())
}

/** Not a socket, but what is below one. */
const isHandle = (sent: unknown): sent is Handle =>
  typeof sent === "object" && sent !== null && "close" in sent && typeof sent.close === "function"
