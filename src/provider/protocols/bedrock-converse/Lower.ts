import type { JsonObject } from "../../../domain/Chat.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { objectAt, textAt } from "../../Json.ts"
import type { ProviderCall } from "../../Provider.ts"
import { strictSchema } from "../anthropic-messages/StrictSchema.ts"
import { toolNamesOf } from "../turns/ToolNames.ts"
import { offerOf } from "../turns/Tools.ts"
import { conversationOf } from "../turns/Turns.ts"
import { familyOf } from "./Family.ts"
import { lowerConversation, type Messages } from "./Messages.ts"
import { isForced, isMidTools, type Thinking, thinkingOf } from "./Thinking.ts"
import { toolConfigOf, withoutTools } from "./Tools.ts"

/** The upstream body, its fields always in this order; the model is named by the path. */
export const lower = (call: ProviderCall): string | ProviderFailure => {
  const said = conversationOf(call.request, call.model.id)
  if ("_tag" in said) return said
  const offer = offerOf(call.request)
  if ("_tag" in offer) return offer
  const names = toolNamesOf(call.request)
  const family = familyOf(call.model.upstreamModel)
  const conversation = offer.choice?._tag === "None" ? withoutTools(said) : said
  const messages = lowerConversation(conversation, names, family)
  if ("_tag" in messages) return messages
  const thinking = thinkingOf(call, family, isForced(offer), isMidTools(messages))
  if ("_tag" in thinking) return thinking
  const { request } = call
  const system = request.responseFormat?.["type"] === "json_object" ? [...messages.system, jsonOnly] : messages.system
  return JSON.stringify({
    messages: messages.messages,
    system: system.length === 0 ? undefined : system,
    inferenceConfig: inferenceConfig(call, thinking, family.isClaude),
    toolConfig: toolConfigOf(offer, conversation, names),
    outputConfig: present({ textFormat: textFormat(request.responseFormat), effort: thinking.effort }),
    additionalModelRequestFields: thinking.fields
  } satisfies Body)
}

interface Body {
  readonly messages: Messages["messages"]
  readonly system: Messages["system"] | undefined
  readonly inferenceConfig: JsonObject
  readonly toolConfig: JsonObject | undefined
  readonly outputConfig: JsonObject | undefined
  readonly additionalModelRequestFields: JsonObject | undefined
}

const inferenceConfig = (call: ProviderCall, { isThinking }: Thinking, isClaude: boolean): JsonObject => {
  const { request } = call
  const takes = (parameter: string): boolean => !call.dropped.includes(parameter)
  // Claude refuses them while it thinks, and the two together always
  const sampling = !(isClaude && isThinking)
  const temperature = takes("temperature") && sampling ? between0and1(request.temperature) : undefined
  const topP = takes("top_p") && sampling && !(isClaude && temperature !== undefined) ? request.topP : undefined
  // blank ones are refused; the rest still holds
  const stops = request.stop.filter((stop) => /\S/.test(stop))
  return {
    maxTokens: call.maxOutputTokens,
    temperature,
    topP,
    stopSequences: stops.length === 0 ? undefined : stops
  }
}

const between0and1 = (temperature: number | undefined): number | undefined =>
  temperature === undefined ? undefined : Math.min(1, Math.max(0, temperature))

const jsonOnly = { text: "Answer with one JSON object and nothing else: no other text around it, no code fence." }

/** The schema goes as text. */
const textFormat = (format: JsonObject | undefined): JsonObject | undefined => {
  const asked = objectAt(format, "json_schema")
  const schema = objectAt(asked, "schema")
  if (format?.["type"] !== "json_schema" || schema === undefined) return undefined
  const jsonSchema = {
    schema: JSON.stringify(strictSchema(schema)),
    name: textAt(asked, "name"),
    description: textAt(asked, "description")
  }
  return { type: "json_schema", structure: { jsonSchema } }
}

const present = (fields: JsonObject): JsonObject | undefined =>
  Object.values(fields).every((value) => value === undefined) ? undefined : fields
