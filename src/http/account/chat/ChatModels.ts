import * as Effect from "effect/Effect"
import { byCodePoint } from "../../../domain/CodePointOrder.ts"
import { CallRunner } from "../../../gateway/CallRunner.ts"
import { ProjectAccess } from "../../../identity/projects/ProjectAccess.ts"
import { type ChatModelOut, type ChatModelsParameters, chatModelsCursor } from "../../../wire/account/Chat.ts"
import { type Listing, listings } from "../../../wire/models/Listing.ts"

/** The models that the calls of a project may name. */
export const chatModels = Effect.gen(function* () {
  const access = yield* ProjectAccess
  const calls = yield* CallRunner
  return ({ cursor, limit, project_id }: typeof ChatModelsParameters.Type) =>
    Effect.gen(function* () {
      const { billingMode, id } = yield* access.require(project_id, "member")
      const { configurations, models } = yield* calls.projectModels({ projectId: id, billingMode })
      return pageOf(listings(models, configurations).map(modelOut), cursor, limit)
    })
})

const modelOut = (listing: Listing): ChatModelOut =>
  listing._tag === "Routed"
    ? { id: listing.id, provider: "gateway" }
    : { id: listing.model.id, provider: listing.model.providerId }

const pageOf = (models: ReadonlyArray<ChatModelOut>, cursor: string | undefined, limit: number) => {
  // the one that it stands on may be gone
  const found = cursor === undefined ? 0 : models.findIndex(({ id }) => isBefore(cursor, id))
  const start = found === -1 ? models.length : found
  const items = models.slice(start, start + limit)
  const last = items.at(-1)
  const hasMore = last !== undefined && start + limit < models.length
  return { items, has_more: hasMore, next_cursor: hasMore ? chatModelsCursor(last.id) : null }
}

/** In the order of the list. */
const isBefore = (id: string, other: string): boolean => {
  const [group, ofOther] = [groupOf(id), groupOf(other)]
  return group === ofOther ? byCodePoint(id, other) < 0 : group < ofOther
}

const groupOf = (id: string): number => (id === "auto" ? 0 : id.startsWith("auto:") ? 1 : 2)
