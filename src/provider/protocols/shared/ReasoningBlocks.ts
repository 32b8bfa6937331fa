import type { ReasoningDetail } from "../../../domain/Chat.ts"
import { providerOf } from "../../../domain/Model.ts"

/**
 * The reasoning of `modelId`, one entry for each block. Streaming clients send the fragments of a block back as they came, with
 * text and signature separate. A block ends with its signature, or where another block begins. OpenAI's JavaScript client keeps
 * only the last fragment: a signature whose text is missing is left out, because providers reject it.
 */
export const ownReasoning = (
  details: ReadonlyArray<ReasoningDetail>,
  modelId: string
): ReadonlyArray<ReasoningDetail> => {
  const blocks: Array<ReasoningDetail> = []
  const ofProvider = `${providerOf(modelId)}/*`
  for (const detail of details) {
    if (!isFrom(detail, modelId) && detail.format !== ofProvider) continue
    const last = blocks.at(-1)
    if (last !== undefined && continues(last, detail)) blocks[blocks.length - 1] = joined(last, detail)
    else blocks.push(detail)
  }
  return blocks.filter(hasAllText)
}

/** An empty text was empty when it was signed. */
const hasAllText = ({ signature, summary, text, type }: ReasoningDetail): boolean =>
  type === "reasoning.encrypted" || !isPresent(signature) || isPresent(text) || isPresent(summary)

/**
 * The model has produced the block. Each fragment of a stream names it, and OpenAI's Python client, which adds fragments up, sends
 * back the name as often as there were fragments.
 */
export const isFrom = ({ format }: ReasoningDetail, modelId: string): boolean =>
  format === modelId ||
  (isPresent(format) &&
    format !== "" &&
    format.length % modelId.length === 0 &&
    format === modelId.repeat(format.length / modelId.length))

const continues = (last: ReasoningDetail, next: ReasoningDetail): boolean => {
  if (last.type !== next.type || differ(last.id, next.id)) return false
  if (isPresent(last.index) && isPresent(next.index)) return last.index === next.index
  return last.type !== "reasoning.encrypted" && !isPresent(last.signature)
}

const joined = (last: ReasoningDetail, next: ReasoningDetail): ReasoningDetail => ({
  ...last,
  ...(isPresent(next.text) && { text: (last.text ?? "") + next.text }),
  ...(isPresent(next.summary) && { summary: (last.summary ?? "") + next.summary }),
  ...(isPresent(next.data) && { data: (last.data ?? "") + next.data }),
  ...(isPresent(next.signature) && { signature: next.signature }),
  ...(isPresent(next.provider_format) && { provider_format: next.provider_format }),
  ...(isPresent(next.id) && { id: next.id })
})

const differ = (a: string | null | undefined, b: string | null | undefined): boolean =>
  isPresent(a) && isPresent(b) && a !== b

const isPresent = <A>(value: A | null | undefined): value is A => value !== undefined && value !== null
