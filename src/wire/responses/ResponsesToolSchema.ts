import * as Schema from "effect/Schema"
import { WebSearchType } from "../HostedTools.ts"
import { freeForm, optional } from "../validation/SchemaParts.ts"

const name = Schema.NonEmptyString.annotations({ description: "Name of the tool." })
const namespace = optional(Schema.String, "Namespace of the tool.")
const description = optional(Schema.String, "Describes the tool to the model.")

const FunctionTool = Schema.Struct({
  type: Schema.Literal("function").annotations({ description: "A function tool." }),
  name,
  description,
  parameters: optional(freeForm, "JSON Schema of the arguments."),
  strict: optional(Schema.Boolean, "Whether the schema must be followed exactly.")
}).annotations({ identifier: "ResponsesFunctionTool" })

const CustomFormat = Schema.Union(
  Schema.Struct({ type: Schema.Literal("text").annotations({ description: "Any text." }) }),
  Schema.Struct({
    type: Schema.Literal("grammar").annotations({ description: "Text that follows a grammar." }),
    syntax: Schema.Literal("lark", "regex").annotations({ description: "Syntax of the grammar." }),
    definition: Schema.String.annotations({ description: "The grammar." })
  })
).annotations({ identifier: "ResponsesCustomToolFormat" })

const CustomTool = Schema.Struct({
  type: Schema.Literal("custom").annotations({ description: "A tool whose input is plain text." }),
  name,
  description,
  format: optional(CustomFormat, "Format of the input.")
}).annotations({ identifier: "ResponsesCustomTool" })

const NamespaceTool = Schema.Struct({
  type: Schema.Literal("namespace").annotations({ description: "Tools in one namespace." }),
  name: Schema.NonEmptyString.annotations({ description: "Name of the namespace; returned with each call." }),
  description,
  tools: Schema.Array(Schema.Union(FunctionTool, CustomTool)).annotations({ description: "Tools of the namespace." })
}).annotations({ identifier: "ResponsesNamespaceTool" })

const WebSearchTool = Schema.Struct({ type: WebSearchType }).annotations({ identifier: "ResponsesWebSearchTool" })

export const ResponsesTool = Schema.Union(FunctionTool, CustomTool, NamespaceTool, WebSearchTool).annotations({
  identifier: "ResponsesTool",
  description: "A tool. Hosted tools other than web search are rejected with `unsupported_tool`."
})

const NamedTool = Schema.Struct({
  type: Schema.Literal("function", "custom").annotations({ description: "Kind of the tool." }),
  name,
  namespace
}).annotations({ identifier: "ResponsesNamedTool" })

export const ToolChoice = Schema.Union(
  Schema.Literal("none", "auto", "required"),
  NamedTool,
  Schema.Struct({
    type: Schema.Literal("allowed_tools").annotations({ description: "A subset of the tools." }),
    mode: Schema.Literal("auto", "required").annotations({ description: "Whether one of them must be called." }),
    tools: Schema.Array(Schema.Union(NamedTool, WebSearchTool)).annotations({ description: "The tools." })
  }),
  WebSearchTool
).annotations({ identifier: "ResponsesToolChoice" })
