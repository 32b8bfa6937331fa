import type { Message } from "./conversation.ts"

export interface Exchange {
  readonly question: Message
  readonly answer: Message | undefined
}

/** Each question with its answer, which the last one of a fork may not have. */
export const exchangesOf = (messages: ReadonlyArray<Message>): ReadonlyArray<Exchange> =>
  messages.flatMap((question, index) => {
    if (question.role !== "user") return []
    const next = messages[index + 1]
    return [{ question, answer: next?.role === "assistant" ? next : undefined }]
  })

export type Version = Message["versions"][number]

/** All versions of a message, the current one last. */
export const versionsOf = (message: Message): ReadonlyArray<Version> => [...message.versions, message]

/** The version that a person has chosen, of the question or of the answer. */
export interface Chosen {
  readonly role: Message["role"]
  readonly index: number
}

/** The versions that are shown, by their indexes: a question with an answer to it, which an earlier one may not have. */
export const shownOf = (
  question: Message,
  answer: Message | undefined,
  chosen: Chosen | undefined
): { readonly question: number; readonly answer: number | undefined } => {
  const asked = versionsOf(question)
  const answers = answer === undefined ? [] : versionsOf(answer)
  // it was written just before the answer
  const questionOf = ({ created_at }: Version) => asked.findLastIndex((each) => each.created_at <= created_at)
  const indexOr = (index: number) => (index === -1 ? undefined : index)
  if (chosen?.role === "user") {
    const last = answers.findLastIndex((each) => questionOf(each) === chosen.index)
    return { question: chosen.index, answer: indexOr(last) }
  }
  const found = chosen && answers[chosen.index]
  return chosen === undefined || found === undefined
    ? { question: asked.length - 1, answer: indexOr(answers.length - 1) }
    : { question: Math.max(0, questionOf(found)), answer: chosen.index }
}
