import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { AnthropicModelList } from "../wire/AnthropicModelListSchema.ts"
import { ChatCompletion } from "../wire/ChatAnswerSchema.ts"
import { ChatCompletionRequest } from "../wire/ChatRequestSchema.ts"
import { ModelList } from "../wire/ModelListSchema.ts"
import { ResponsesObject } from "../wire/ResponsesObjectSchema.ts"
import { ResponsesRequest } from "../wire/ResponsesRequestSchema.ts"

/**
 * The declaration of what the server answers; the OpenAPI document is made from it. The handlers are not bound to it: the
 * two POST endpoints are served without the platform's router, and the rest decodes nothing.
 */
const errors = {
  400: "The request is invalid, or cannot be met by the model it names.",
  401: "The API key is missing or invalid.",
  402: "Balance or spend limit do not cover the call.",
  404: "The model does not exist, or nothing that the project and the request allow is left.",
  429: "A rate limit was exceeded.",
  500: "The gateway failed unexpectedly.",
  502: "The provider failed, or every provider that could be tried.",
  503: "Service is refused for now: shutting down, overloaded, or the database is away."
} as const
export type ErrorStatus = keyof typeof errors

export const errorDescription = (status: ErrorStatus): string => errors[status]

const chat = HttpApiEndpoint.post("createChatCompletion", "/v1/chat/completions")
  .setPayload(ChatCompletionRequest)
  .addSuccess(ChatCompletion)
  .annotate(OpenApi.Summary, "Create a chat completion")
  .annotate(
    OpenApi.Description,
    "`model` is `auto`, `auto:<slug>` or an id of the models list. With `stream` the answer is a stream of `chat.completion.chunk` events, ended by `[DONE]`; a failure in mid-stream is an `error` object and no `[DONE]`."
  )

const responses = HttpApiEndpoint.post("createResponse", "/v1/responses")
  .setPayload(ResponsesRequest)
  .addSuccess(ResponsesObject)
  .annotate(OpenApi.Summary, "Create a response (beta)")
  .annotate(
    OpenApi.Description,
    "Beta: the stateless subset of the Responses API, over the same routing, fallback and money as chat completions. Nothing is stored: `previous_response_id`, `conversation`, `prompt` and `background` are refused, hosted tools other than web search too; hosted web search is removed and named in `X-Service-Dropped-Tools`."
  )

const models = HttpApiEndpoint.get("listModels", "/v1/models")
  .addSuccess(Schema.Union(ModelList, AnthropicModelList))
  .annotate(OpenApi.Summary, "List the models that the key may use")
  .annotate(
    OpenApi.Description,
    "Specific to the key's project. With an `anthropic-version` header, whichever its value, the list has Anthropic's shape."
  )

const Health = Schema.Struct({ status: Schema.String.annotations({ description: "A word for the state." }) })
const text = HttpApiSchema.Text()

const livez = HttpApiEndpoint.get("livez", "/livez")
  .addSuccess(Health)
  .annotate(OpenApi.Summary, "The process is alive")
const readyz = HttpApiEndpoint.get("readyz", "/readyz")
  .addSuccess(Health)
  .addError(Health, { status: 503 })
  .annotate(OpenApi.Summary, "The node takes calls")
const metrics = HttpApiEndpoint.get("metrics", "/metrics")
  .addSuccess(text)
  .annotate(OpenApi.Summary, "Prometheus metrics")

export const Api = HttpApi.make("gateway")
  .add(
    HttpApiGroup.make("inference")
      .add(chat)
      .add(responses)
      .add(models)
      .annotate(OpenApi.Description, "Language models behind one door.")
  )
  .add(
    HttpApiGroup.make("operations")
      .add(livez)
      .add(readyz)
      .add(metrics)
      .annotate(OpenApi.Description, "For whoever runs the gateway.")
  )
  .annotate(OpenApi.Title, "Model routing gateway")
  .annotate(OpenApi.Version, "0.1.0")
  .annotate(OpenApi.License, { name: "MIT" })
