import * as Effect from "effect/Effect"
import { AccountIdempotency } from "../../../account/idempotency/AccountIdempotency.ts"
import type { BegunTurn } from "../../../chat/BeginTurn.ts"
import { Conversations } from "../../../chat/Conversations.ts"
import { messageOut } from "../../../chat/Records.ts"
import { Turns } from "../../../chat/Turns.ts"
import { ServiceRefused } from "../../../domain/GatewayError.ts"
import type { ConversationId } from "../../../domain/Ids.ts"
import { StartedTurnOut } from "../../../wire/account/Chat.ts"
import { Drain } from "../../server/Drain.ts"
import { idempotent } from "../Idempotent.ts"
import { cursorText } from "./ChatStream.ts"

/** Starts the answer to a message. It is committed first: neither can be left out when the client leaves meanwhile. */
export const startedTurns = Effect.gen(function* () {
  const conversations = yield* Conversations
  const turns = yield* Turns
  const drain = yield* Drain
  const idempotency = yield* AccountIdempotency
  return <E, R>(
    idempotencyKey: string | undefined,
    id: ConversationId,
    body: unknown,
    begin: Effect.Effect<BegunTurn, E, R>
  ) =>
    Effect.uninterruptible(
      Effect.gen(function* () {
        if (drain.isDraining()) return yield* new ServiceRefused({ reason: "shutting_down" })
        const begun: Array<BegunTurn> = []
        const answered = Effect.map(begin, (made) => {
          begun.push(made)
          return startedOut(made)
        })
        const kept = { body, schema: StartedTurnOut, mayReplay: conversations.find(id) }
        const out = yield* idempotent(idempotency, idempotencyKey, kept, answered)
        for (const { turn } of begun) yield* turns.start(turn, drain.enter())
        return out
      })
    )
})

const startedOut = ({
  answer,
  answerVersions,
  attachments,
  question,
  questionVersions
}: BegunTurn): typeof StartedTurnOut.Type => ({
  user_message: messageOut(question, questionVersions, attachments),
  assistant_message: messageOut(answer, answerVersions, attachments),
  cursor: cursorText({ message: answer.id, offset: 0 })
})
