import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useMemo } from "react"
import { client, take } from "../../api/client.ts"
import { ApiFailure } from "../../api/failure.ts"
import { useIdempotencyKeys } from "../../parts/useIdempotencyKeys.ts"
import { useIsShown } from "../../parts/useIsShown.ts"
import type { Asked } from "./asked.ts"
import type { Message } from "./conversation.ts"
import { useConversation } from "./useConversation.ts"

type Turn =
  | { readonly kind: "send"; readonly asked: Asked }
  | { readonly kind: "edit"; readonly message: Message; readonly content: string }
  | { readonly kind: "retry"; readonly message: Message }

/** A conversation as it is written, and what can be done in it. */
export const useThread = (id: string) => {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const isShown = useIsShown()
  const changed = () =>
    Promise.all(
      [["conversations"], ["running-conversations"], ["balance"]].map((queryKey) =>
        queries.invalidateQueries({ queryKey })
      )
    )
  const { again, begin, error, state } = useConversation(id, () => void changed())
  const refused = (failure: unknown) => {
    if (isOutdated(failure)) again()
  }
  const keys = useIdempotencyKeys()
  const ask = useMutation({
    mutationKey: ["ask", id],
    mutationFn: (turn: Turn) => {
      switch (turn.kind) {
        case "send":
          return take(
            client.POST("/api/chat/conversations/{id}/messages", {
              params: { path: { id }, header: keys.headerOf("send", turn.asked) },
              body: turn.asked
            })
          )
        case "edit":
          return take(
            client.POST("/api/chat/conversations/{id}/messages/{message_id}/edit", {
              params: {
                path: { id, message_id: turn.message.id },
                header: keys.headerOf("edit", turn.message.id, turn.content)
              },
              body: { content: turn.content }
            })
          )
        case "retry":
          return take(
            client.POST("/api/chat/conversations/{id}/messages/{message_id}/retry", {
              params: { path: { id, message_id: turn.message.id }, header: keys.headerOf("retry", turn.message.id) },
              body: {}
            })
          )
      }
    },
    onSuccess: (turn) => {
      keys.taken()
      begin(turn)
      void changed()
    },
    onError: refused
  })
  const stop = useMutation({
    mutationFn: () => take(client.POST("/api/chat/conversations/{id}/stop", { params: { path: { id } } }))
  })
  const fork = useMutation({
    mutationKey: ["fork", id],
    mutationFn: (message: Message) =>
      take(
        client.POST("/api/chat/conversations/{id}/fork", {
          params: { path: { id }, header: keys.headerOf("fork", message.id) },
          body: { message_id: message.id }
        })
      ),
    onSuccess: async (made) => {
      keys.taken()
      await changed()
      if (isShown()) await navigate({ to: "/chat/$conversationId", params: { conversationId: made.id } })
    },
    onError: refused
  })
  const actions = useMemo(() => {
    // known before the page shows it: a second click may come earlier
    const isIdle = (name: "ask" | "fork") => queries.isMutating({ mutationKey: [name, id] }) === 0
    return {
      retry: (message: Message) => {
        if (isIdle("ask")) ask.mutate({ kind: "retry", message })
      },
      /** Fails where the question was not taken. */
      edit: async (message: Message, content: string) => {
        if (!isIdle("ask")) throw new Error("another question is being sent")
        await ask.mutateAsync({ kind: "edit", message, content })
      },
      fork: (message: Message) => {
        if (isIdle("fork")) fork.mutate(message)
      }
    }
  }, [queries, id, ask.mutate, ask.mutateAsync, fork.mutate])
  return { id, state, error, again, changed, ask, stop, actions, failed: stop.error ?? fork.error }
}

/** Whether it was refused because of what was written elsewhere: an answer in progress, or other messages than those shown. */
const isOutdated = (failure: unknown): boolean =>
  failure instanceof ApiFailure &&
  (failure.status === 404 || failure.status === 409 || failure.error.param === "message_id")

export type ThreadState = ReturnType<typeof useThread>

/** What the next question is asked with where nothing else is chosen. */
export const modelOf = ({ state: { conversation } }: ThreadState): string =>
  conversation?.messages.findLast(({ role }) => role === "assistant")?.model_requested ?? "auto"
