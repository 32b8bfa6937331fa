import { keepPreviousData, queryOptions } from "@tanstack/react-query"
import { client, take } from "../../api/client.ts"
import { type Asked, isRouted } from "./asked.ts"
import type { Message } from "./conversation.ts"

/** What would be sent, as far as the choice of a model depends on it. */
export interface Previewed {
  readonly asked: Asked
  /** The conversation before it; of several models, each in its order. */
  readonly histories: ReadonlyArray<ReadonlyArray<Message>>
}

interface Question {
  readonly asked: Asked
  readonly history: ReadonlyArray<Message>
}

/** What one model, or `auto`, would come to; nothing is sent to a provider, held or charged. */
export const routeOf = (projectId: string, model: string, question: Question) =>
  queryOptions({
    queryKey: ["chat-route", projectId, model, question],
    queryFn: ({ signal }) =>
      take(
        client.POST("/api/projects/{id}/route", {
          params: { path: { id: projectId } },
          body: bodyOf(model, question) as never,
          signal
        })
      ),
    placeholderData: keepPreviousData,
    // prices, health and money of the moment
    staleTime: 0,
    gcTime: 0
  })

const bodyOf = (model: string, { asked, history }: Question) => ({
  model,
  stream: true,
  messages: [
    ...history.filter(({ content, images }) => content !== "" || images.length > 0).map(messageOf),
    { role: "user", content: partsOf(asked.content, asked.image_ids?.length ?? 0) }
  ],
  ...(asked.alpha !== undefined && isRouted(model) ? { alpha: asked.alpha } : {}),
  ...(asked.effort === undefined ? {} : { reasoning_effort: asked.effort }),
  // a model that is named is sent no tools where it takes none
  ...(asked.artifacts === false || !isRouted(model) ? {} : { tools: artifactTools })
})

const messageOf = ({ content, images, role }: Message) =>
  role === "user" ? { role, content: partsOf(content, images.length) } : { role, content }

const partsOf = (text: string, images: number) =>
  images === 0 ? text : [...Array.from({ length: images }, () => image), { type: "text", text }]

/** What a model has to take is known by the kind of a part: the pictures themselves stay where they are. */
const image = {
  type: "image_url",
  image_url: {
    url: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
  }
}

const artifactTools = ["write_artifact", "edit_artifact"].map((name) => ({ type: "function", function: { name } }))
