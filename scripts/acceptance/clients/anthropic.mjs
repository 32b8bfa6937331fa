import Anthropic from "@anthropic-ai/sdk"

export const adapters = [
  {
    client: "@anthropic-ai/sdk",
    models: async ({ apiKey, origin }) => {
      const ids = []
      for await (const { display_name, id } of new Anthropic({
        authToken: apiKey,
        apiKey: null,
        baseURL: origin,
        maxRetries: 0
      }).models.list({ limit: 2 })) {
        if (typeof display_name !== "string") throw new Error(`${id} has no display name`)
        ids.push(id)
      }
      return ids
    }
  }
]
