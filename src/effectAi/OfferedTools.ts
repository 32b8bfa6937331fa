import * as AiError from "@effect/ai/AiError"
import type * as LanguageModel from "@effect/ai/LanguageModel"
import * as Tool from "@effect/ai/Tool"
import * as Either from "effect/Either"
import type { ChatCompletionRequest } from "../wire/chat/ChatRequestSchema.ts"

/** Fields of a chat completion that say which tools it offers, and in which form it asks for the answer. */
export type OfferedFields = Pick<ChatCompletionRequest, "tools" | "tool_choice" | "response_format">

export const offeredFields = ({
  responseFormat,
  toolChoice,
  tools
}: LanguageModel.ProviderOptions): Either.Either<OfferedFields, AiError.MalformedInput> =>
  Either.map(Either.all(tools.map(functionOf)), (functions) => ({
    ...(functions.length > 0 && { tools: functions, tool_choice: choiceOf(toolChoice) }),
    ...(responseFormat.type === "json" && {
      response_format: {
        type: "json_schema",
        json_schema: {
          name: responseFormat.objectName,
          schema: Tool.getJsonSchemaFromSchemaAst(responseFormat.schema.ast),
          strict: true
        }
      }
    })
  }))

const functionOf = (tool: Tool.Any): Either.Either<FunctionTool, AiError.MalformedInput> => {
  if (Tool.isProviderDefined(tool)) {
    return Either.left(
      new AiError.MalformedInput({
        module: "GatewayLanguageModel",
        method: "offeredFields",
        description: `The tool '${tool.name}' is one that a provider executes; the gateway offers the application's own.`
      })
    )
  }
  const description = tool.description ?? Tool.getDescriptionFromSchemaAst(tool.parametersSchema.ast)
  return Either.right({
    type: "function",
    function: {
      name: tool.name,
      ...(description !== undefined && { description }),
      parameters: { ...Tool.getJsonSchemaFromSchemaAst(tool.parametersSchema.ast) }
    }
  })
}

type FunctionTool = NonNullable<ChatCompletionRequest["tools"]>[number]

const choiceOf = (choice: LanguageModel.ProviderOptions["toolChoice"]): NonNullable<OfferedFields["tool_choice"]> => {
  if (typeof choice === "string") return choice
  if ("tool" in choice) return { type: "function", function: { name: choice.tool } }
  return {
    type: "allowed_tools",
    allowed_tools: {
      mode: choice.mode ?? "auto",
      tools: choice.oneOf.map((name: string) => ({ type: "function", function: { name } }))
    }
  }
}
