/** What a prompt asks for. The first seven are read from its text, the others from the rest of the request. */
export const promptClasses = [
  "code",
  "math",
  "reasoning",
  "knowledge",
  "extraction",
  "chat",
  "translation",
  "tool_use",
  "long_context",
  "vision"
] as const
export type PromptClass = (typeof promptClasses)[number]

/** How many of them the text tells apart. */
export const textClasses = 7

export const classIndex: Readonly<Record<PromptClass, number>> = {
  code: 0,
  math: 1,
  reasoning: 2,
  knowledge: 3,
  extraction: 4,
  chat: 5,
  translation: 6,
  tool_use: 7,
  long_context: 8,
  vision: 9
}
