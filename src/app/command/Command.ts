import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Effect from "effect/Effect"
import type { Configuration } from "../Configuration.ts"
import type { Arguments, Syntax } from "./Arguments.ts"

/** What a command runs with. */
export interface CommandContext extends Configuration {
  readonly given: Arguments
}

/** One command of the program. */
export interface Command extends Syntax {
  /** One or two words. */
  readonly name: string
  readonly about: string
  readonly run: (context: CommandContext) => Effect.Effect<void, unknown, FileSystem.FileSystem>
}
