import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { ProjectId } from "../domain/Ids.ts"
import type { ProviderCredential } from "../domain/ProviderCredential.ts"
import type { Timers } from "../domain/Timers.ts"
import type { ChangeNotifications } from "../sql/ChangeNotifications.ts"
import * as RowCache from "../sql/RowCache.ts"
import { type CredentialRow, CredentialStore } from "./CredentialStore.ts"
import { SealedCredentials } from "./SealedCredentials.ts"
import { versionOf } from "./Sealing.ts"

export interface ProjectCredentialsShape {
  /**
   * What the calls of a project with billing mode `byok` use, oldest first; `null`: the credentials that the providers were made
   * with. Cached; a change takes effect immediately on the node that made it.
   */
  readonly ofProject: (project: ProjectId) => Effect.Effect<ReadonlyArray<ProviderCredential> | null, StoreUnavailable>
  /** What `ofProject` would give now, if that is in memory; `undefined`, or no such member: it has to be read. */
  readonly peek?: (project: ProjectId) => ReadonlyArray<ProviderCredential> | null | undefined
}

/** The credentials of projects that pay their providers themselves; in an embedded gateway those of its providers. */
export class ProjectCredentials extends Context.Reference<ProjectCredentials>()(
  "gateway/credentials/ProjectCredentials",
  {
    defaultValue: (): ProjectCredentialsShape => ({
      ofProject: () => Effect.succeed(null),
      peek: () => null
    })
  }
) {
  static readonly layer: Layer.Layer<
    ProjectCredentials,
    never,
    ChangeNotifications | CredentialStore | SealedCredentials | Timers
  > = Layer.scoped(
    this,
    Effect.suspend(() => make)
  )
}

type Credentials = ReadonlyArray<ProviderCredential>

/** A credential with its secret. */
export const credentialOf = (
  { allowedModels, id, provider, sealed }: Pick<CredentialRow, "allowedModels" | "id" | "provider" | "sealed">,
  secret: Redacted.Redacted
): ProviderCredential => ({ id, providerId: provider, secret, version: versionOf(sealed), allowedModels })

const make = Effect.gen(function* () {
  const store = yield* CredentialStore
  const sealed = yield* SealedCredentials

  /** One that cannot be opened is as good as none: the others still work. */
  const opened = (row: CredentialRow): Effect.Effect<Credentials> =>
    Effect.matchEffect(sealed.open(row), {
      onFailure: () => Effect.succeed([]),
      onSuccess: (secret) =>
        secret === undefined
          ? Effect.as(
              Effect.logError(
                `the credential ${row.id} of project ${row.projectId} opens with no configured master key: set the one that it was sealed under as GATEWAY_MASTER_KEY_PREVIOUS, or replace its secret`
              ),
              []
            )
          : Effect.succeed([credentialOf(row, secret)])
    })

  const cache = yield* RowCache.make<Credentials, Credentials>({
    load: (id) =>
      Effect.flatMap(store.ofProject(ProjectId.make(id)), (rows) =>
        Effect.map(Effect.forEach(rows, opened), (all) => all.flat())
      ),
    absent: [],
    kinds: ["credentials"]
  })
  return { ofProject: cache.get, peek: cache.peek }
})
