import type { ProtocolId } from "./Support.ts"

/** How many stop strings a protocol takes of one request. Those that are not named take all that the gateway does. */
export const maxStopStrings = { gemini: 5 } as const satisfies Partial<Record<ProtocolId, number>>

/** How many tools OpenAI's own API takes of one request. */
export const maxOpenAiTools = 128

/** Claude rejects smaller reasoning budgets, and a budget that is not below the output cap. */
export const minClaudeBudgetTokens = 1024
