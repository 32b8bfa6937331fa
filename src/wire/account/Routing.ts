import * as Schema from "effect/Schema"
import { ProjectId, UserId } from "../../domain/Ids.ts"
import { pageOf } from "./Page.ts"
import { StoredPatterns } from "./Patterns.ts"
import { Alpha, capsAndFallback, Patterns } from "./Policy.ts"
import { Name } from "./Projects.ts"
import { strict } from "./Strict.ts"
import { timestamp } from "./Times.ts"

export const Slug = Schema.String.pipe(Schema.pattern(/^[a-z0-9-]{1,120}$/)).annotations({
  description: "Addressed as `auto:<slug>`; 1 to 120 characters of a-z, 0-9 and '-'."
})

const some = (what: string, list: typeof Patterns | typeof StoredPatterns) =>
  Schema.optionalWith(Schema.NullOr(list), { default: () => null }).annotations({
    description: `${what} that it may choose, as ids, \`<prefix>/*\` or \`*\`; null and default: all that the project allows.`
  })

const lists = (list: typeof Patterns | typeof StoredPatterns) => ({
  models: some("Models", list),
  providers: some("Providers", list)
})

const settings = {
  name: Schema.optionalWith(Schema.NullOr(Name), { default: () => null }).annotations({
    description: "Name, 1 to 200 characters; null and default: the slug."
  }),
  ...lists(Patterns),
  alpha: Schema.optionalWith(Alpha, { default: () => null }).annotations({
    description: "Quality against cost: 0 is cheapest, 1 is best; null and default: as the project."
  }),
  ...capsAndFallback
}

export const RoutingConfigurationInput = strict(settings).annotations({ identifier: "RoutingConfigurationInput" })
export type RoutingConfigurationInput = typeof RoutingConfigurationInput.Type

export const CreateRoutingConfigurationRequest = strict({ slug: Slug, ...settings }).annotations({
  identifier: "CreateRoutingConfigurationRequest"
})

export const ActivateVersionRequest = strict({
  version: Schema.Number.pipe(Schema.int(), Schema.between(1, 2_147_483_647)).annotations({
    description: "Number of the version that is to be in force."
  })
}).annotations({ identifier: "ActivateVersionRequest" })

const settingsOut = { ...settings, ...lists(StoredPatterns), name: Schema.String.annotations({ description: "Name." }) }

export const RoutingConfigurationOut = Schema.Struct({
  id: Schema.UUID.annotations({ description: "Id of the routing configuration." }),
  project_id: ProjectId.annotations({ description: "The project that it belongs to." }),
  slug: Schema.String.annotations({ description: "Addressed as `auto:<slug>`." }),
  ...settingsOut,
  active_version: Schema.NullOr(Schema.Int).annotations({
    description: "Number of the version in force; null where GATEWAY_CONFIG has it, which keeps no versions."
  }),
  managed_by_configuration: Schema.Boolean.annotations({
    description: "Whether GATEWAY_CONFIG has it, which then is the only place to change it."
  }),
  created_at: timestamp("When it was created."),
  updated_at: timestamp("When another version came into force.")
}).annotations({ identifier: "RoutingConfigurationOut" })
export type RoutingConfigurationOut = typeof RoutingConfigurationOut.Type

export const RoutingConfigurationsPage = pageOf("RoutingConfigurationsPage", RoutingConfigurationOut)

export const RoutingVersionOut = Schema.Struct({
  version: Schema.Int.annotations({ description: "From 1; a version never changes." }),
  is_active: Schema.Boolean.annotations({ description: "Whether it is in force." }),
  ...settingsOut,
  created_at: timestamp("When it was made."),
  created_by: UserId.annotations({ description: "Who made it." })
}).annotations({ identifier: "RoutingVersionOut" })
export type RoutingVersionOut = typeof RoutingVersionOut.Type

export const RoutingVersionsPage = pageOf("RoutingVersionsPage", RoutingVersionOut)
