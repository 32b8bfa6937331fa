import { randomFillSync } from "node:crypto"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Settings from "../../config/Settings.ts"
import * as MasterKey from "../../credentials/MasterKey.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import * as AccountClient from "../../http/account/AccountClient.ts"
import { proofHeader } from "../../http/account/Identity.ts"
import { commandPurpose } from "../../identity/sessions/CommandAccess.ts"
import { listenUrl } from "../../identity/sessions/PublicUrl.ts"
import * as SignInProof from "../../identity/sessions/SignInProof.ts"
import { withinAnswerTime } from "./AnswerTime.ts"
import { CommandFailed, Operations, rowsAtOnce } from "./Operations.ts"

/** At the service that has the embedded database of the settings open. Each request carries a proof of the master key. */
export const layer = (settings: Settings.Settings): Layer.Layer<Operations, CommandFailed, IdGenerator> =>
  Layer.effect(Operations, make(settings)).pipe(Layer.provide(FetchHttpClient.layer))

const make = Effect.fnUntraced(function* (settings: Settings.Settings) {
  const ids = yield* IdGenerator
  const directory = settings.dataDirectory
  const [key] = yield* Effect.mapError(MasterKey.existing({ ...settings.masterKey, directory }), asFailure)
  if (key === undefined) {
    return yield* new CommandFailed({ message: `GATEWAY_MASTER_KEY is not set, and ${directory} has no master.key.` })
  }
  const derived = MasterKey.derive(key, commandPurpose)
  const baseUrl = listenUrl(settings.host, settings.port)
  const client = yield* AccountClient.make({
    baseUrl,
    transformClient: HttpClient.mapRequestEffect((request) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        HttpClientRequest.setHeader(request, proofHeader, SignInProof.make(derived, now, randomFillSync))
      )
    )
  })
  const asked = <A, E extends { readonly _tag: string; readonly message: string }>(
    effect: Effect.Effect<A, E>
  ): Effect.Effect<A, CommandFailed> =>
    effect.pipe(
      Effect.mapError((error) => whyNot(error, directory, baseUrl)),
      withinAnswerTime(baseUrl, asFailure)
    )

  return Operations.of({
    defaults: Effect.flatMap(asked(client.projects.getMe()), ({ accounts: [account], default_project_id }) =>
      account === undefined
        ? Effect.dieMessage("every user owns an account")
        : Effect.succeed({ accountId: account.id, projectId: default_project_id })
    ),
    projects: pagedById((cursor) => asked(client.admin.listAllProjects({ urlParams: { limit: rowsAtOnce, cursor } }))),
    createKey: (project_id, { limitMicroUsd, name }) =>
      asked(
        client.keys.createAnyKey({
          headers: {},
          payload: { project_id, name, spend_limit_microusd: limitMicroUsd }
        })
      ),
    keys: (project) =>
      numbered((page) =>
        asked(client.keys.listKeys({ path: { id: project }, urlParams: { page, limit: rowsAtOnce } }))
      ),
    revokeKey: (id) => asked(client.keys.revokeKey({ path: { id } })),
    credit: (id, amount_microusd, note) =>
      asked(
        client.billing.createCredit({
          path: { id },
          headers: { "idempotency-key": ids.uuid() },
          payload: { amount_microusd, note }
        })
      ),
    balance: (id) => asked(client.billing.getAnyBalance({ path: { id } }))
  })
})

const asFailure = ({ message }: { readonly message: string }) => new CommandFailed({ message })

const whyNot = (
  { _tag, message }: { readonly _tag: string; readonly message: string },
  directory: string,
  baseUrl: string
): CommandFailed => {
  switch (_tag) {
    case "RequestError":
      return new CommandFailed({
        message: `a service has ${directory} open, but none answers at ${baseUrl}; set HOST and PORT as it has them.`
      })
    case "Unauthenticated":
      return new CommandFailed({
        message: `the service at ${baseUrl} has another master key, a clock more than a minute apart, or is not the one that has ${directory} open; set HOST, PORT and GATEWAY_MASTER_KEY as that one has them.`
      })
    default:
      return new CommandFailed({ message })
  }
}

/** All pages; a cursor is the id of the last item before it. */
const pagedById = <A extends { readonly id: string }, E>(
  read: (
    cursor: string | undefined
  ) => Effect.Effect<{ readonly items: ReadonlyArray<A>; readonly has_more: boolean }, E>
): Effect.Effect<ReadonlyArray<A>, E> =>
  Effect.gen(function* () {
    const all: Array<A> = []
    for (let more = true; more; ) {
      const { has_more, items } = yield* read(all.at(-1)?.id)
      all.push(...items)
      more = has_more && items.length > 0
    }
    return all
  })

const numbered = <A, E>(
  read: (page: number) => Effect.Effect<{ readonly items: ReadonlyArray<A>; readonly total: number }, E>
): Effect.Effect<ReadonlyArray<A>, E> =>
  Effect.gen(function* () {
    const all: Array<A> = []
    for (let page = 1; ; page++) {
      const { items, total } = yield* read(page)
      all.push(...items)
      if (items.length === 0 || all.length >= total) return all
    }
  })
