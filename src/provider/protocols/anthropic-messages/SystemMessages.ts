import type { Model } from "../../../domain/Model.ts"

const takers = /^claude-(?:opus-4-8|opus-5|fable-5|mythos-5)(?!\d)/

/**
 * Whether the model takes system messages within a conversation, where they leave the cached prompt before them as it is. Other
 * models reject them: there they are sent with those of the beginning.
 * Source: https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
 */
export const takesSystemMessages = ({ upstreamModel }: Pick<Model, "upstreamModel">): boolean =>
  takers.test(upstreamModel)
