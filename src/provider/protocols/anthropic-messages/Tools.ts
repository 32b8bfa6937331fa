import type { JsonObject } from "../../../domain/Chat.ts"
import type { ToolNames } from "../shared/ToolNames.ts"
import type { AvailableTool, ToolSet } from "../shared/Tools.ts"
import type { LowerCacheControl } from "./Messages.ts"
import { strictSchema } from "./StrictSchema.ts"

export const lowerTools = (
  toolSet: ToolSet,
  names: ToolNames,
  cacheControl: LowerCacheControl,
  parallel: boolean | undefined
): { readonly tools: ReadonlyArray<JsonObject> | undefined; readonly choice: JsonObject | undefined } => ({
  tools: toolSet.tools.length === 0 ? undefined : toolSet.tools.map((tool) => lowerTool(tool, names, cacheControl)),
  choice: lowerChoice(toolSet, names, parallel)
})

const lowerTool = (tool: AvailableTool, names: ToolNames, cacheControl: LowerCacheControl): JsonObject => ({
  name: names.toProvider(tool.name),
  description: tool.description,
  input_schema: tool.strict === true ? strictSchema(tool.parameters) : tool.parameters,
  strict: tool.strict === true ? true : undefined,
  cache_control: cacheControl(tool.cacheControl)
})

/** `disable_parallel_tool_use` is a field of `tool_choice`, so `tool_choice` must then be sent. */
const lowerChoice = (toolSet: ToolSet, names: ToolNames, parallel: boolean | undefined): JsonObject | undefined => {
  if (toolSet.tools.length === 0) return undefined
  const single = parallel === false ? { disable_parallel_tool_use: true } : {}
  switch (toolSet.choice?._tag) {
    case undefined:
      return parallel === false ? { type: "auto", ...single } : undefined
    case "Auto":
      return { type: "auto", ...single }
    case "Required":
      return { type: "any", ...single }
    case "Tool":
      return { type: "tool", name: names.toProvider(toolSet.choice.name), ...single }
    case "None":
      return { type: "none" }
  }
}
