import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { AccountId, ProjectId } from "../../domain/Ids.ts"
import { nearest } from "../../domain/Nearest.ts"
import { type Arguments, UsageError } from "./Arguments.ts"
import { CommandFailed, Operations } from "./Operations.ts"

export const projectOption = {
  project: { about: "a project by id or name; else the one of the first start", value: "PROJECT" }
} as const
export const accountOption = {
  account: { about: "an account by id; else the one of the first start", value: "ACCOUNT_ID" }
} as const

/** The id of a row, as it was typed. */
export const idOf = <A>(schema: Schema.Schema<A, string>, name: string, text: string): Effect.Effect<A, UsageError> =>
  Effect.mapError(
    Schema.decode(schema)(text.toLowerCase()),
    () => new UsageError({ message: `${name} must be a UUID` })
  )

export const accountOf = (given: Arguments): Effect.Effect<AccountId, CommandFailed | UsageError, Operations> => {
  const named = given.values.get("account")
  return named === undefined
    ? Effect.flatMap(Operations, ({ defaults }) => Effect.map(defaults, ({ accountId }) => accountId))
    : idOf(AccountId, "--account", named)
}

export const projectOf = (given: Arguments): Effect.Effect<ProjectId, CommandFailed, Operations> =>
  Effect.gen(function* () {
    const operations = yield* Operations
    const named = given.values.get("project")
    if (named === undefined) {
      const { projectId } = yield* operations.defaults
      return (
        projectId ??
        (yield* new CommandFailed({ message: "the first account has no project; name one with --project" }))
      )
    }
    if (isProjectId(named)) return named
    const projects = yield* operations.projects
    const [found, ...more] = projects.filter(({ name }) => name === named)
    if (found === undefined) {
      const near = nearest(
        named,
        projects.map(({ name }) => name)
      )
      const meant = near === undefined ? "" : `; did you mean '${near}'?`
      return yield* new CommandFailed({ message: `there is no project '${named}'${meant}` })
    }
    if (more.length > 0) {
      return yield* new CommandFailed({ message: `several projects have the name '${named}': give an id` })
    }
    return found.id
  })

const isProjectId = Schema.is(ProjectId)
