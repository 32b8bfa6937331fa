/**
 * Every path that the server answers, besides those of the account API, which are in its declaration. The OpenAPI document takes its paths from here, and dispatch needs a handler for each
 * name, so that a path cannot be declared without being served.
 */

/** The inference endpoints, served without the platform's router. */
export const inferencePaths = {
  createChatCompletion: "/v1/chat/completions",
  createResponse: "/v1/responses",
  createMessage: "/v1/messages",
  countMessageTokens: "/v1/messages/count_tokens"
} as const
export type InferenceName = keyof typeof inferencePaths

/** Chat completions for a person who is signed in, without a project key; served like the inference endpoints. */
export const projectChatPath = "/api/projects/:id/chat/completions"

const projectChat = /^\/api\/projects\/([^/?]+)\/chat\/completions(?:\?|$)/

/** The project of a URL of that endpoint; `undefined` for any other. */
export const projectOf = (url: string): string | undefined => projectChat.exec(url)?.[1]

/** Endpoints of the platform's router. */
export const routedPaths = {
  listModels: "/v1/models",
  previewRoute: "/v1/route",
  giveFeedback: "/v1/feedback",
  getKey: "/v1/key",
  getGeneration: "/v1/generation",
  livez: "/livez",
  readyz: "/readyz",
  metrics: "/metrics",
  openApi: "/openapi.json",
  docs: "/docs"
} as const
export type RoutedName = keyof typeof routedPaths

/** One model of the list. Its id has a slash, so that the path is a prefix for the router. */
export const modelPath = "/v1/models/:id"
export const modelPrefix = "/v1/models/"

/** What the payment provider and the buyer's browser call; handlers are beside those of the account API. */
export const paymentPaths = {
  stripeWebhook: "/webhooks/stripe",
  testCheckout: "/checkout/test"
} as const

/** Images and artifacts of conversations, by signed links. */
export const contentPaths = ["/content/images/:id", "/content/artifacts/:id/:version"] as const

/** A path as the OpenAPI document writes it: `{id}` for `:id`. */
export const documentPath = (path: string): string => path.replaceAll(/:(\w+)/g, "{$1}")
