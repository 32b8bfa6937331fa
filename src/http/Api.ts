import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { databaseOutages } from "../domain/DatabaseOutage.ts"
import { ProjectId } from "../domain/Ids.ts"
import { version } from "../domain/Version.ts"
import { FeedbackOut, FeedbackRequest } from "../wire/account/Feedback.ts"
import { KeyStatusOut } from "../wire/account/KeyStatus.ts"
import { RequestOut } from "../wire/account/Requests.ts"
import { RouteOut } from "../wire/account/Route.ts"
import { sentId } from "../wire/account/SentId.ts"
import { ChatCompletion } from "../wire/chat/ChatAnswerSchema.ts"
import { ChatCompletionRequest } from "../wire/chat/ChatRequestSchema.ts"
import { ErrorResponse } from "../wire/ErrorBody.ts"
import { Message } from "../wire/messages/MessagesObjectSchema.ts"
import { CountTokensRequest, MessagesRequest, TokenCount } from "../wire/messages/MessagesRequestSchema.ts"
import { AnthropicModelEntry, AnthropicModelList } from "../wire/models/AnthropicModelListSchema.ts"
import { ModelEntry, ModelList } from "../wire/models/ModelListSchema.ts"
import { ResponsesObject } from "../wire/responses/ResponsesObjectSchema.ts"
import { ResponsesRequest } from "../wire/responses/ResponsesRequestSchema.ts"
import { inferencePaths, modelPath, projectChatPath, routedPaths } from "./Paths.ts"

/** The error statuses of the API. */
const errors = {
  400: "The request is invalid, or the requested model does not support it.",
  401: "The API key is missing or invalid.",
  402: "Insufficient balance, or spend limit exceeded.",
  404: "The model does not exist, or the project and the request together allow no model.",
  429: "A rate limit was exceeded.",
  500: "The gateway failed unexpectedly.",
  502: "The provider failed, or every provider that was tried failed.",
  503: "Temporarily unavailable: shutting down, overloaded, or the database is unavailable."
} as const
export type ErrorStatus = keyof typeof errors

export const errorDescription = (status: ErrorStatus): string => errors[status]

const chat = HttpApiEndpoint.post("createChatCompletion", inferencePaths.createChatCompletion)
  .setPayload(ChatCompletionRequest)
  .addSuccess(ChatCompletion)
  .annotate(OpenApi.Summary, "Create a chat completion")
  .annotate(
    OpenApi.Description,
    "`model` is `auto`, `auto:<slug>` or an id of the models list. With `stream` the response is a stream of `chat.completion.chunk` events that ends with `[DONE]`; a failure during the stream ends it with an `error` object and no `[DONE]`."
  )

const responses = HttpApiEndpoint.post("createResponse", inferencePaths.createResponse)
  .setPayload(ResponsesRequest)
  .addSuccess(ResponsesObject)
  .annotate(OpenApi.Summary, "Create a response (beta)")
  .annotate(
    OpenApi.Description,
    "Beta: the stateless subset of the Responses API, with the same routing, fallback and billing as chat completions. Nothing is stored: `previous_response_id`, `conversation`, `prompt` and `background` are rejected, and so are hosted tools other than web search; hosted web search is removed and named in `X-Service-Dropped-Tools`."
  )

const models = HttpApiEndpoint.get("listModels", routedPaths.listModels)
  .addSuccess(Schema.Union(ModelList, AnthropicModelList))
  .annotate(OpenApi.Summary, "List the models that the key may use")
  .annotate(
    OpenApi.Description,
    "Specific to the key's project. With an `anthropic-version` header, of any value, the list has Anthropic's shape."
  )

const model = HttpApiEndpoint.get("getModel", modelPath)
  .setPath(
    Schema.Struct({
      id: Schema.String.annotations({
        description: "`id` of an entry in the model list. Its slash may be percent-encoded or not."
      })
    })
  )
  .addSuccess(Schema.Union(ModelEntry, AnthropicModelEntry))
  .annotate(OpenApi.Summary, "Get a model")
  .annotate(
    OpenApi.Description,
    "With an `anthropic-version` header, of any value, the response has Anthropic's shape. A model that is not in the list for this key is 404 `model_not_found`."
  )

const key = HttpApiEndpoint.get("getKey", routedPaths.getKey)
  .addSuccess(KeyStatusOut)
  .annotate(OpenApi.Summary, "Get the limits of the key that the request is sent with")

const generation = HttpApiEndpoint.get("getGeneration", routedPaths.getGeneration)
  .setUrlParams(
    Schema.Struct({
      id: Schema.String.annotations({
        description: "`x-request-id` of the response, or the `id` of its body (`chatcmpl-…`, `resp_…`, `msg_…`)."
      })
    })
  )
  .addSuccess(RequestOut)
  .annotate(OpenApi.Summary, "Get an ended call of the key's project, with its attempts and cost")

const route = HttpApiEndpoint.post("previewRoute", routedPaths.previewRoute)
  .setPayload(ChatCompletionRequest)
  .addSuccess(RouteOut)
  .annotate(OpenApi.Summary, "Preview the route of a request")
  .annotate(
    OpenApi.Description,
    "Takes the body of a chat completion. Nothing is sent to a provider, held or charged; if no model could take the call, the response has status 200 and an `error`."
  )

const feedback = HttpApiEndpoint.post("giveFeedback", routedPaths.giveFeedback)
  .setPayload(FeedbackRequest)
  .addSuccess(FeedbackOut)
  .annotate(OpenApi.Summary, "Grade the response of a call")
  .annotate(
    OpenApi.Description,
    "For `auto` calls of the key's project. Grades affect only the routing of that project, from 30 grades of a model in a class of prompts, within minutes. Counts as one request towards the key's rate limits; a project may send 600 grades per minute."
  )

const projectChat = HttpApiEndpoint.post("createProjectChatCompletion", projectChatPath)
  .setPath(Schema.Struct({ id: sentId(ProjectId, "Id of the project.") }))
  .setPayload(ChatCompletionRequest)
  .addSuccess(ChatCompletion)
  .annotate(OpenApi.Summary, "Create a chat completion as the signed-in user")
  .annotate(
    OpenApi.Description,
    "Like `POST /v1/chat/completions`, but authenticated by an identity instead of a project key. Requires the member role. The calls of a user are attributed to their own key, which is listed among those of the project and can have a limit."
  )

const messages = HttpApiEndpoint.post("createMessage", inferencePaths.createMessage)
  .setPayload(MessagesRequest)
  .addSuccess(Message)
  .annotate(OpenApi.Summary, "Create a message")
  .annotate(
    OpenApi.Description,
    "Anthropic's Messages format, with the same routing, fallback and billing as chat completions, for every provider. With `stream` the response is a stream of events that ends with `message_stop`; a failure during the stream ends it with `error`. Hosted web search is removed and named in `X-Service-Dropped-Tools`; other hosted tools are rejected. The key may also be sent as `x-api-key`. `anthropic-version` and `anthropic-beta` are accepted and have no effect."
  )

const countTokens = HttpApiEndpoint.post("countMessageTokens", inferencePaths.countMessageTokens)
  .setPayload(CountTokensRequest)
  .addSuccess(TokenCount)
  .annotate(OpenApi.Summary, "Estimate the tokens of a message's prompt")
  .annotate(
    OpenApi.Description,
    "The gateway's own estimate, which it also uses for routing: no provider is called, nothing is charged. Counts as one request towards the key's rate limits."
  )

const Alive = Schema.Struct({ status: Schema.Literal("ok").annotations({ description: "Always ok." }) })
const Ready = Schema.Struct({
  status: Schema.Literal("ready").annotations({ description: "Always ready." }),
  ledger_violations: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.NonNegativeInt }), {
    exact: true
  }).annotations({
    description: "Number of ledger rows that break an invariant, by invariant; absent if there are none."
  })
})
const Unready = Schema.Struct({
  status: Schema.Literal("shutting_down", "store_unavailable").annotations({
    description: "Why the node is not ready: it is shutting down, or the database takes no writes."
  }),
  reason: Schema.optionalWith(Schema.Literal(...databaseOutages), { exact: true }).annotations({
    description:
      "Why the database takes no writes. delayed: another transaction is in the way, or it is slow. starting: it starts, stops or recovers. failed: something else. The log of the node has the details and what to do. Absent while it is shutting down."
  })
})
const text = HttpApiSchema.Text()

const livez = HttpApiEndpoint.get("livez", routedPaths.livez)
  .addSuccess(Alive)
  .annotate(OpenApi.Summary, "Liveness probe")
const readyz = HttpApiEndpoint.get("readyz", routedPaths.readyz)
  .addSuccess(Ready)
  .addError(Unready, { status: 503 })
  .annotate(OpenApi.Summary, "Readiness probe")
const metrics = HttpApiEndpoint.get("metrics", routedPaths.metrics)
  .addSuccess(text)
  .addError(ErrorResponse, { status: 401 })
  .annotate(OpenApi.Summary, "Prometheus metrics")
  .annotate(
    OpenApi.Description,
    "Requires `METRICS_TOKEN` as a bearer token; without that setting, only a loopback name in `Host`."
  )

/** The declaration of the documented endpoints; the OpenAPI document is generated from it. `Paths` binds it to the handlers. */
export const Api = HttpApi.make("gateway")
  .add(
    HttpApiGroup.make("inference")
      .add(chat)
      .add(responses)
      .add(models)
      .add(projectChat)
      .annotate(OpenApi.Description, "One OpenAI-compatible API for all configured model providers.")
  )
  .add(
    HttpApiGroup.make("extension")
      .add(key)
      .add(generation)
      .add(route)
      .add(feedback)
      .add(messages)
      .add(countTokens)
      .add(model)
      .annotate(OpenApi.Description, "Extensions beyond the specified endpoints, authenticated with project keys.")
  )
  .add(
    HttpApiGroup.make("operations")
      .add(livez)
      .add(readyz)
      .add(metrics)
      .annotate(OpenApi.Description, "Operator endpoints.")
  )
  .annotate(OpenApi.Title, "Model routing gateway")
  .annotate(OpenApi.Version, version)
  .annotate(
    OpenApi.Description,
    "One OpenAI-compatible API for all configured model providers, with routing, fallback and exact costs. `/v1` is authenticated with project keys, `/api` with user identities. Clients that take a single base URL use `/v1` of this server.\n\nA request that cannot be read is answered before its path is known, so on every path with an ErrorResponse, an `x-request-id` and `connection: close`: 400 `invalid_value` where it is not valid HTTP/1.1, 400 `request_too_large` where the chunk extensions of its body are too large, 408 `request_timeout` where its headers take longer than 10 seconds or all of it takes longer than 30, 431 `request_too_large` where request line and headers have more than 16 KiB."
  )
  .annotate(OpenApi.License, { name: "MIT" })
