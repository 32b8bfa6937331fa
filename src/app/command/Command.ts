import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
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

/** Runs what a module holds that only this command needs: each command is loaded without those of the others. */
export const loaded = <Module, A, E, R>(
  load: () => Promise<Module>,
  run: (module: Module) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => Effect.flatMap(Effect.promise(load), run)
