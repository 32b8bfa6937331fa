import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type { Tool } from "../domain/Chat.ts"
import {
  artifactFields,
  type ChatArtifactEventOut,
  maxArtifactBytes,
  type SaveArtifactRequest
} from "../wire/account/Chat.ts"

/** The result of a tool call, as the model sees it. */
export interface ToolResult {
  readonly result: string
  readonly isError: boolean
  /** What was done, for those who follow. */
  readonly event?: ChatArtifactEventOut
}

export const done = (event: ChatArtifactEventOut): ToolResult => {
  const { name, size_bytes, version } = event.artifact
  return { result: JSON.stringify({ name, version, size_bytes }), isError: false, event }
}

export const refused = (result: string): ToolResult => ({ result, isError: true })

/** What a model wants to be done. */
export type ArtifactCall =
  | { readonly _tag: "Write"; readonly document: SaveArtifactRequest }
  | { readonly _tag: "Edit"; readonly edit: Edit }

const Edit = Schema.Struct({ name: artifactFields.name, old_text: Schema.NonEmptyString, new_text: Schema.String })
export type Edit = typeof Edit.Type

const decodeWrite = Schema.decodeUnknownEither(Schema.parseJson(Schema.Struct(artifactFields)))
const decodeEdit = Schema.decodeUnknownEither(Schema.parseJson(Edit))

export const writeTool = "write_artifact"
const editTool = "edit_artifact"
export const isArtifactTool = (name: string): boolean => name === writeTool || name === editTool

/** On the left why there is nothing that could be done. */
export const artifactCall = (name: string, json: string): Either.Either<ArtifactCall, string> => {
  switch (name) {
    case writeTool:
      return Either.mapBoth(decodeWrite(json), {
        onLeft: notValid,
        onRight: (document) => ({ _tag: "Write", document }) as const
      })
    case editTool:
      return Either.mapBoth(decodeEdit(json), {
        onLeft: notValid,
        onRight: (edit) => ({ _tag: "Edit", edit }) as const
      })
    default:
      return Either.left(`There is no tool '${name}'.`)
  }
}

/** On the left why the part to be replaced is not one part of the text. */
export const edited = (
  content: string,
  { new_text, old_text }: Pick<Edit, "new_text" | "old_text">
): Either.Either<string, string> => {
  const [head, tail, ...more] = content.split(old_text)
  if (head === undefined || tail === undefined) return Either.left("old_text does not occur in it.")
  return more.length > 0
    ? Either.left("old_text occurs in it more than once: give more of the text around it.")
    : Either.right(head + new_text + tail)
}

/** Why a text that was edited is none that an artifact can have. */
export const invalidity = (content: string): string | undefined => {
  if (content.includes("\0")) return "new_text must not contain NUL."
  return Buffer.byteLength(content) > maxArtifactBytes ? "It would be too large." : undefined
}

const maxReasonCharacters = 300
/** Which field, and why. */
const notValid = (error: ParseResult.ParseError): string => {
  const reason = ParseResult.ArrayFormatter.formatErrorSync(error)
    .map(({ message, path }) => [...path, message].join(": "))
    .join(" ")
  return `The arguments are not valid: ${reason.slice(0, maxReasonCharacters)}`
}

const property = (description: string, ...examples: ReadonlyArray<string>) => ({
  type: "string",
  description,
  ...(examples.length === 0 ? {} : { examples })
})
const functionOf = (name: string, description: string, properties: Readonly<Record<string, object>>): Tool => ({
  type: "function",
  function: {
    name,
    description,
    parameters: { type: "object", properties, required: Object.keys(properties), additionalProperties: false }
  }
})

export const tools: ReadonlyArray<Tool> = [
  functionOf(
    writeTool,
    "Write a document of its own, such as a page, a drawing, a table or a program, which the person sees beside the conversation. Under a name that exists it replaces that document.",
    {
      name: property("File name, unique in the conversation."),
      media_type: property(
        "Media type, such as text/html, image/svg+xml, text/markdown, text/csv, application/json.",
        "text/markdown",
        "text/html"
      ),
      content: property("The whole text.")
    }
  ),
  functionOf(editTool, "Replace a part of a document that was written before.", {
    name: property("Its name."),
    old_text: property("Text that occurs in it exactly once."),
    new_text: property("Text to put in its place.")
  })
]
