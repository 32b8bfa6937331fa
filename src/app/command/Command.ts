import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Effect from "effect/Effect"
import type { Variables } from "../../config/DotEnv.ts"
import type * as Settings from "../../config/Settings.ts"
import type { Arguments, Syntax } from "./Arguments.ts"

/** What a command runs with. */
export interface CommandContext {
  readonly given: Arguments
  readonly settings: Settings.Settings
  /** All variables, those of `.env` included. */
  readonly variables: Variables
}

/** One command of the program. */
export interface Command extends Syntax {
  /** One or two words. */
  readonly name: string
  readonly about: string
  readonly run: (context: CommandContext) => Effect.Effect<void, unknown, FileSystem.FileSystem>
}
