import * as Schema from "effect/Schema"
import { ProjectId, UserId } from "../../domain/Ids.ts"
import { matching, within } from "../validation/SchemaParts.ts"
import { pageOf } from "./Page.ts"
import { StoredPatterns } from "./Patterns.ts"
import { Alpha, capsAndFallback, Patterns } from "./Policy.ts"
import { named } from "./Projects.ts"
import { strict } from "./Strict.ts"
import { timestamp } from "./Times.ts"

export const Slug = matching(/^[a-z0-9-]{1,120}$/, "1 to 120 characters of a-z, 0-9 and '-'").annotations({
  description: "Slug, addressed as `auto:<slug>`; 1 to 120 characters of a-z, 0-9 and '-'."
})

const some = (what: string, list: typeof Patterns | typeof StoredPatterns) =>
  Schema.optionalWith(Schema.NullOr(list), { default: () => null }).annotations({
    description: `${what} to choose from, as ids, \`<prefix>/*\` or \`*\`; null and default: all that the project allows.`
  })

const lists = (list: typeof Patterns | typeof StoredPatterns) => ({
  models: some("Models", list),
  providers: some("Providers", list)
})

const settings = {
  name: Schema.optionalWith(Schema.NullOr(named("Name, 1 to 200 characters.")), { default: () => null }).annotations({
    description: "Name, 1 to 200 characters; null and default: the slug."
  }),
  ...lists(Patterns),
  alpha: Schema.optionalWith(Alpha, { default: () => null }).annotations({
    description:
      "Quality-versus-cost weight: 0 is cheapest, 1 is highest quality; null and default: that of the project."
  }),
  ...capsAndFallback
}

export const RoutingConfigurationInput = strict(settings).annotations({ identifier: "RoutingConfigurationInput" })
export type RoutingConfigurationInput = typeof RoutingConfigurationInput.Type

export const CreateRoutingConfigurationRequest = strict({ slug: Slug, ...settings }).annotations({
  identifier: "CreateRoutingConfigurationRequest"
})

export const ActivateVersionRequest = strict({
  version: within({ type: "integer", minimum: 1, maximum: 2_147_483_647 }).annotations({
    description: "Number of the version to activate."
  })
}).annotations({ identifier: "ActivateVersionRequest" })

const settingsOut = { ...settings, ...lists(StoredPatterns), name: Schema.String.annotations({ description: "Name." }) }

export const RoutingConfigurationOut = Schema.Struct({
  id: Schema.UUID.annotations({ description: "Id of the routing configuration." }),
  project_id: ProjectId.annotations({ description: "The project that it belongs to." }),
  slug: Schema.String.annotations({ description: "Slug, addressed as `auto:<slug>`." }),
  ...settingsOut,
  active_version: Schema.NullOr(Schema.Int).annotations({
    description: "Number of the active version; null if it is managed by GATEWAY_CONFIG, which keeps no versions."
  }),
  managed_by_configuration: Schema.Boolean.annotations({
    description: "Whether it is managed by GATEWAY_CONFIG and can be changed only there."
  }),
  created_at: timestamp("When it was created."),
  updated_at: timestamp("When another version last became active.")
}).annotations({ identifier: "RoutingConfigurationOut" })
export type RoutingConfigurationOut = typeof RoutingConfigurationOut.Type

export const RoutingConfigurationsPage = pageOf("RoutingConfigurationsPage", RoutingConfigurationOut)

export const RoutingVersionOut = Schema.Struct({
  version: Schema.Int.annotations({ description: "Number of the version, from 1; versions are immutable." }),
  is_active: Schema.Boolean.annotations({ description: "Whether the version is active." }),
  ...settingsOut,
  created_at: timestamp("When it was created."),
  created_by: UserId.annotations({ description: "The user who created it." })
}).annotations({ identifier: "RoutingVersionOut" })
export type RoutingVersionOut = typeof RoutingVersionOut.Type

export const RoutingVersionsPage = pageOf("RoutingVersionsPage", RoutingVersionOut)
