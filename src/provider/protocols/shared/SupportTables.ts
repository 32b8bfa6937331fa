import {
  type Parameter,
  type Support,
  type SupportTable,
  shapingParameters,
  tuningParameters
} from "../../../domain/Support.ts"

/** One support value for several parameters. */
export const all = (
  support: Support,
  ...parameters: ReadonlyArray<Parameter>
): Readonly<Partial<Record<Parameter, Support>>> =>
  Object.fromEntries(parameters.map((parameter) => [parameter, support]))

export const noLogprobs = all("refused", "logprobs", "top_logprobs")

/** A response format may be a JSON object, and no JSON schema. */
export const jsonObjectsOnly = all("refused", "response_format.json_schema")

/** A JSON format stands alone: not beside tools, and a schema not in a stream (https://console.groq.com/docs/structured-outputs). */
export const formatsAlone = all("refused", "response_format.json_schema.stream", "response_format.tools")

/** Every parameter has its own field: the base for protocols in the format of chat completions. */
export const everyParameter: SupportTable = record("native")

/** The base for protocols of another format: common sampling parameters have a field, features are translated. */
export const otherFormat: SupportTable = {
  ...record("dropped"),
  ...all("native", "tools", "temperature", "top_p", "stop", "stop[1]"),
  ...all(
    "translated",
    "tool_choice",
    "tool_choice.required",
    "response_format",
    "response_format.json_schema",
    "response_format.json_schema.stream",
    "response_format.tools",
    "reasoning_effort"
  ),
  ...all("refused", "modalities", "audio", "logprobs", "top_logprobs")
}

function record(support: Support): SupportTable {
  return Object.fromEntries([...shapingParameters, ...tuningParameters].map((parameter) => [parameter, support])) as {
    readonly [P in Parameter]: Support
  }
}
