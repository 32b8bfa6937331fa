import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { AccountIdempotency } from "../../../account/idempotency/AccountIdempotency.ts"
import { usableModels } from "../../../account/policy/UsableModels.ts"
import { ProjectRoutings } from "../../../account/routing/ProjectRoutings.ts"
import type { ProjectRouting, RoutingSettings, RoutingVersion } from "../../../account/routing/RoutingVersionStore.ts"
import { Catalog } from "../../../catalog/Catalog.ts"
import type { ProjectId } from "../../../domain/Ids.ts"
import { Timers } from "../../../domain/Timers.ts"
import { CallRunner } from "../../../gateway/CallRunner.ts"
import { ProjectAccess } from "../../../identity/projects/ProjectAccess.ts"
import { Health } from "../../../routing/Health.ts"
import {
  type RoutingConfigurationInput,
  RoutingConfigurationOut,
  type RoutingVersionOut
} from "../../../wire/account/Routing.ts"
import { previewOf } from "../../RoutePreview.ts"
import { AccountApi } from "../AccountApi.ts"
import { entityTag, requireMatch } from "../EntityTag.ts"
import { idempotent, withHeader } from "../Idempotent.ts"
import { charactersIn, page, pageOfLarge } from "../Paging.ts"
import { catalogPage, withModels } from "./CatalogRecords.ts"

export const routingHandlers = HttpApiBuilder.group(AccountApi, "routing", (handlers) =>
  Effect.gen(function* () {
    const routings = yield* ProjectRoutings
    const access = yield* ProjectAccess
    const idempotency = yield* AccountIdempotency
    const catalog = yield* Catalog
    const usable = yield* usableModels
    const health = yield* Health
    const calls = yield* CallRunner
    const timers = yield* Timers

    /** A single configuration is sent with its version. */
    const sent = (routing: ProjectRouting) => Effect.as(withHeader("etag", tagOf(routing)), outOf(routing))

    /** By id: all models that the gateway can call, and those that only the project can. */
    const catalogFor = (id: ProjectId | undefined) =>
      id === undefined
        ? Effect.sync(() => catalog.snapshot().models)
        : Effect.gen(function* () {
            const project = yield* access.find(id)
            const own = yield* usable(project.id, project.billingMode)
            return withModels(catalog.snapshot().models, own.models)
          })

    return handlers
      .handle("listRoutingConfigurations", ({ path, urlParams }) =>
        page(
          "routing-configurations",
          urlParams,
          (id) => id,
          (max, before) => routings.list(path.id, max, before),
          outOf
        )
      )
      .handle("createRoutingConfiguration", ({ headers, path, payload: { slug, ...input } }) =>
        idempotent(
          idempotency,
          headers["idempotency-key"],
          {
            body: { slug, ...input },
            schema: RoutingConfigurationOut,
            mayReplay: access.require(path.id, "member")
          },
          Effect.map(routings.create(path.id, slug, settingsOf(slug, input)), outOf)
        )
      )
      .handle("getRoutingConfiguration", ({ path }) => Effect.flatMap(routings.read(path.id, path.slug), sent))
      .handle("putRoutingConfiguration", ({ headers, path, payload }) =>
        Effect.flatMap(
          routings.replace(path.id, path.slug, settingsOf(path.slug, payload), (found) =>
            requireMatch(headers["if-match"], tagOf(found))
          ),
          sent
        )
      )
      .handle("deleteRoutingConfiguration", ({ path }) => routings.remove(path.id, path.slug))
      .handle("listRoutingVersions", ({ path, urlParams }) =>
        pageOfLarge(
          "routing-versions",
          urlParams,
          (id) => id,
          (max, before) =>
            Effect.map(
              routings.versions(path.id, path.slug, max, before === undefined ? undefined : versionOf(before)),
              ({ routing, versions }): ReadonlyArray<ListedVersion> =>
                versions.map((version) => ({ ...version, id: idOf(version), active: routing.activeVersion }))
            ),
          versionOut,
          { atOnce: 16, charactersOf: ({ settings }) => charactersIn(settings.models, settings.providers) }
        )
      )
      .handle("activateRoutingVersion", ({ path, payload }) =>
        Effect.flatMap(routings.activate(path.id, path.slug, payload.version), sent)
      )
      .handle("listCatalog", ({ urlParams }) =>
        Effect.map(catalogFor(urlParams.project_id), (models) => catalogPage(models, health, timers.now(), urlParams))
      )
      .handle("previewRoute", ({ path, payload }) =>
        Effect.gen(function* () {
          const project = yield* access.find(path.id)
          return yield* previewOf(
            calls,
            timers.now(),
            { projectId: project.id, billingMode: project.billingMode },
            payload
          )
        })
      )
  })
)

const settingsOf = (slug: string, input: RoutingConfigurationInput): RoutingSettings => ({
  ...input,
  name: input.name ?? slug
})

const tagOf = ({ createdAt, updatedAt, ...routing }: ProjectRouting): string => entityTag([JSON.stringify(routing)])

const recordOf = (settings: RoutingSettings) => ({
  name: settings.name,
  models: settings.models,
  providers: settings.providers,
  alpha: settings.alpha,
  max_input_price_microusd_per_million: settings.max_input_price_microusd_per_million,
  max_output_price_microusd_per_million: settings.max_output_price_microusd_per_million,
  enable_fallback: settings.enable_fallback
})

const outOf = (routing: ProjectRouting): RoutingConfigurationOut => ({
  id: routing.id,
  project_id: routing.projectId,
  slug: routing.slug,
  ...recordOf(routing),
  active_version: routing.activeVersion,
  managed_by_configuration: routing.managedByConfiguration,
  created_at: routing.createdAt,
  updated_at: routing.updatedAt
})

interface ListedVersion extends RoutingVersion {
  readonly id: string
  /** The active version. */
  readonly active: number | null
}

const versionOut = (found: ListedVersion): RoutingVersionOut => ({
  version: found.version,
  is_active: found.version === found.active,
  ...recordOf(found.settings),
  created_at: found.createdAt,
  created_by: found.createdBy
})

/** Cursors of all lists have the form of an id; a version is counted within its configuration. */
const idOf = ({ version }: RoutingVersion): string =>
  `00000000-0000-0000-0000-${version.toString(16).padStart(12, "0")}`
const versionOf = (id: string): number => Math.min(Number.parseInt(id.slice(-12), 16), 2_147_483_647)
