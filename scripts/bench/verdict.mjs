// What the official client is left with, as an application would see it. It never retries.
import { setTimeout as delay } from "node:timers/promises"
import OpenAI from "openai"
import { residentMegabytes } from "./processes.mjs"

/** More than five times the longest deadline. */
const patienceMillis = 8_000
const watchMillis = 50
/** A server that takes this much for one answer is not going to give it. */
const mostMegabytes = 1_500

export const verdicts = {
  whole: "the whole answer with its finish reason",
  error: "the client throws",
  cut: "the client throws nothing, and the answer is not whole",
  hang: `neither after ${patienceMillis / 1_000} s, or the server at ${mostMegabytes} MB`
}

const prompt = "Count to sixty."

/** `wholes`: the texts of which each is a whole answer. */
export const judge = async ({ apiKey, baseURL, headers, more, model, pid, stream, wholes }) => {
  const leave = new AbortController()
  const client = new OpenAI({ apiKey, baseURL, maxRetries: 0, defaultHeaders: headers })
  const request = { ...more, model, messages: [{ role: "user", content: prompt }] }
  const said = { text: "", finish: null }
  const ask = (stream ? streamed : plain)(client, request, said, leave.signal)
  const left = ask.then(
    () => (wholes.includes(said.text) && said.finish !== null ? { verdict: "whole" } : { verdict: "cut" }),
    (error) => ({ verdict: "error", code: error.status ?? error.code ?? error.name })
  )
  const result = await Promise.race([left, outOfPatience(pid, leave.signal)])
  leave.abort()
  return { ...result, finish: said.finish, words: said.text.split(" ").length - 1 }
}

const plain = async (client, request, said, signal) => {
  const answer = await client.chat.completions.create(request, { signal })
  tell(said, answer.choices?.[0]?.message?.content, answer.choices?.[0]?.finish_reason)
}

const streamed = async (client, request, said, signal) => {
  for await (const { choices } of await client.chat.completions.create({ ...request, stream: true }, { signal })) {
    tell(said, choices?.[0]?.delta?.content, choices?.[0]?.finish_reason)
  }
}

const tell = (said, text, finish) => {
  said.text += text ?? ""
  said.finish = finish ?? said.finish
}

const outOfPatience = async (pid, signal) => {
  const endsAt = performance.now() + patienceMillis
  while (!signal.aborted && performance.now() < endsAt) {
    if (megabytes(pid) > mostMegabytes) return { verdict: "hang", why: `${mostMegabytes} MB` }
    await delay(watchMillis)
  }
  return { verdict: "hang", why: `${patienceMillis / 1_000} s` }
}

const megabytes = (pid) => {
  try {
    const found = residentMegabytes(pid)
    return Number.isFinite(found) ? found : 0
  } catch {
    return 0 // it has ended, and the client will notice
  }
}
