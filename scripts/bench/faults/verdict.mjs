// @ts-check
// What the official client is left with, as an application would see it. It never retries.
import { setTimeout as delay } from "node:timers/promises"
import OpenAI from "openai"
import { residentMegabytes } from "../../lib/processes.mjs"

/**
 * What a client is left with: `words` of the answer and its finish reason; `code` of the error; `why` it was not waited for.
 *
 * @typedef {{ verdict: Verdict, finish: string | null, words: number, code?: string | number | undefined, why?: string }} Seen
 */
/** @typedef {"whole" | "error" | "cut" | "hang"} Verdict */
/** @typedef {{ text: string, finish: string | null }} Said */

/** More than five times the longest deadline. */
const maxAnswerMillis = 8_000
const watchMillis = 50
/** A server that takes this much for one answer is not going to give it. */
const maxMegabytes = 1_500

/** @type {Readonly<Record<Verdict, string>>} */
export const verdicts = {
  whole: "the complete response with its finish reason",
  error: "the client throws",
  cut: "the client throws nothing, and the answer is not whole",
  hang: `neither after ${maxAnswerMillis / 1_000} s, or the server at ${maxMegabytes} MB`
}

const prompt = "Count to sixty."

/**
 * What it takes to ask a gateway and to judge its answer.
 *
 * @typedef {{
 *   apiKey: string
 *   baseURL: string
 *   headers: Readonly<Record<string, string>>
 *   model: string
 *   more: Readonly<Record<string, unknown>>
 *   pid: number | undefined
 * }} Target
 */

/**
 * `wholes`: the texts of which each is a complete response.
 *
 * @param {Target & { stream: boolean, wholes: ReadonlyArray<string> }} asked
 * @returns {Promise<Seen>}
 */
export const judge = async ({ apiKey, baseURL, headers, more, model, pid, stream, wholes }) => {
  const leave = new AbortController()
  const client = new OpenAI({ apiKey, baseURL, maxRetries: 0, defaultHeaders: headers })
  /** @type {OpenAI.ChatCompletionCreateParamsNonStreaming} */
  const request = { ...more, model, messages: [{ role: "user", content: prompt }] }
  /** @type {Said} */
  const said = { text: "", finish: null }
  const ask = (stream ? streamed : plain)(client, request, said, leave.signal)
  /** @type {Promise<Pick<Seen, "verdict" | "code">>} */
  const left = ask.then(
    () => (wholes.includes(said.text) && said.finish !== null ? { verdict: "whole" } : { verdict: "cut" }),
    (error) => ({ verdict: "error", code: error.status ?? error.code ?? error.name })
  )
  const result = await Promise.race([left, waitedTooLong(pid, leave.signal)])
  leave.abort()
  return { ...result, finish: said.finish, words: said.text.split(" ").length - 1 }
}

/** @param {OpenAI} client @param {OpenAI.ChatCompletionCreateParamsNonStreaming} request @param {Said} said @param {AbortSignal} signal */
const plain = async (client, request, said, signal) => {
  const answer = await client.chat.completions.create(request, { signal })
  tell(said, answer.choices?.[0]?.message?.content, answer.choices?.[0]?.finish_reason)
}

/** @param {OpenAI} client @param {OpenAI.ChatCompletionCreateParamsNonStreaming} request @param {Said} said @param {AbortSignal} signal */
const streamed = async (client, request, said, signal) => {
  for await (const { choices } of await client.chat.completions.create({ ...request, stream: true }, { signal })) {
    tell(said, choices?.[0]?.delta?.content, choices?.[0]?.finish_reason)
  }
}

/** @param {Said} said @param {string | null | undefined} text @param {string | null | undefined} finish */
const tell = (said, text, finish) => {
  said.text += text ?? ""
  said.finish = finish ?? said.finish
}

/** @param {number | undefined} pid @param {AbortSignal} signal @returns {Promise<Pick<Seen, "verdict" | "why">>} */
const waitedTooLong = async (pid, signal) => {
  const endsAt = performance.now() + maxAnswerMillis
  while (!signal.aborted && performance.now() < endsAt) {
    if (megabytes(pid) > maxMegabytes) return { verdict: "hang", why: `${maxMegabytes} MB` }
    await delay(watchMillis)
  }
  return { verdict: "hang", why: `${maxAnswerMillis / 1_000} s` }
}

/** @param {number | undefined} pid */
const megabytes = (pid) => {
  if (pid === undefined) return 0
  try {
    const found = residentMegabytes(pid)
    return Number.isFinite(found) ? found : 0
  } catch {
    return 0 // it has ended, and the client will notice
  }
}
