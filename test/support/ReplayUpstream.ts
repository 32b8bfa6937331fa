import { createServer, type Server } from "node:http"

interface UpstreamBody {
  readonly model: string
  readonly messages: ReadonlyArray<{ readonly content: string }>
  readonly max_tokens?: number
}

/** What an upstream with three models was asked, and how it answers. */
export interface ReplayUpstream {
  /** Models, in their order. */
  asked: Array<string>
  bodies: Array<UpstreamBody>
  /** Reasoning tokens of a model, before its answer. */
  reasoningTokens: Readonly<Record<string, number>>
  /** Whether the judge says which answer is better. */
  isJudgeClear: boolean
  /** Whether a model's provider rejects a prompt by its policy. */
  rejects: (model: string, at: number) => boolean
  isAway: (model: string) => boolean
  /** Requests that were closed before they were answered. */
  closed: number
  beforeAnswer: (model: string) => Promise<void>
  /** Prompts that were answered before. */
  readonly seen: Set<string>
}

const initial = (): Omit<ReplayUpstream, "seen"> => ({
  asked: [],
  bodies: [],
  reasoningTokens: {},
  isJudgeClear: true,
  rejects: () => false,
  isAway: () => false,
  closed: 0,
  beforeAnswer: () => Promise.resolve()
})

export const newReplayUpstream = (): ReplayUpstream => ({ ...initial(), seen: new Set() })

/** As it began, but for the prompts that were answered. */
export const reset = (state: ReplayUpstream): void => {
  Object.assign(state, initial())
}

/** Resolves when a model is asked: it does not answer. */
export const modelNeverAnswers = (state: ReplayUpstream): Promise<void> =>
  new Promise((reached) => {
    state.beforeAnswer = () => {
      reached()
      return new Promise(() => {})
    }
  })

const answerTokens = 40

const says = ({ isJudgeClear, seen }: ReplayUpstream, model: string, text: string): string => {
  const at = Number(/Question (\d+)/.exec(text)?.[1])
  const right = `The sum is ${at}.`
  if (model === "judge") {
    if (!isJudgeClear) return "I would rather not say."
    const shown = [...text.matchAll(/<answer label="(.)">\n([\s\S]*?)\n<\/answer>/g)]
    const fitting = shown.filter(([, , said]) => said?.includes(right))
    return fitting.length === 1 ? `VERDICT: ${fitting[0]?.[1]}` : "VERDICT: TIE"
  }
  // in other words on every third prompt once it has been answered, so that the judge is asked
  const isFirst = !seen.has(text)
  seen.add(text)
  return at % 3 === 0 && !isFirst ? `Added up by ${model}: ${right}` : right
}

export const serverOf = (state: ReplayUpstream): Server =>
  createServer((request, response) => {
    const chunks: Array<Buffer> = []
    response.on("close", () => {
      if (!response.writableFinished) state.closed += 1
    })
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as UpstreamBody
      const { max_tokens = Number.POSITIVE_INFINITY, messages, model } = body
      state.asked.push(model)
      state.bodies.push(body)
      if (state.isAway(model)) {
        response.writeHead(500).end()
        return
      }
      if (state.rejects(model, Number(/Question (\d+)/.exec(messages.at(-1)?.content ?? "")?.[1]))) {
        response.writeHead(400, { "content-type": "application/json" })
        const error = { message: "Filtered.", type: "invalid_request_error", code: "content_filter" }
        response.end(JSON.stringify({ error }))
        return
      }
      const reasoned = state.reasoningTokens[model] ?? 0
      const isCut = reasoned + answerTokens > max_tokens
      const content = isCut ? "" : says(state, model, messages.map((message) => message.content).join("\n"))
      const completion_tokens = isCut ? max_tokens : reasoned + answerTokens
      void state.beforeAnswer(model).then(() => {
        response.writeHead(200, { "content-type": "application/json" })
        response.end(
          JSON.stringify({
            id: "x",
            object: "chat.completion",
            created: 1,
            model,
            choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: isCut ? "length" : "stop" }],
            usage: {
              prompt_tokens: 60,
              completion_tokens,
              total_tokens: 60 + completion_tokens,
              completion_tokens_details: { reasoning_tokens: isCut ? completion_tokens : reasoned }
            }
          })
        )
      })
    })
  })
