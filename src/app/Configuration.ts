import * as FileSystem from "@effect/platform/FileSystem"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { type Variables, withDotEnv } from "../config/DotEnv.ts"
import * as Settings from "../config/Settings.ts"
import type { InvalidConfiguration } from "../domain/InvalidConfiguration.ts"
import { loadOptions } from "./LoadOptions.ts"

/** What settings are decoded from. */
export interface Sources {
  /** All variables, those of `.env` included. */
  readonly variables: Variables
  /** The text of the file that GATEWAY_CONFIG names; `null`: it names none. */
  readonly file: string | null
}

export interface Configuration extends Sources {
  readonly settings: Settings.Settings
}

/** Decodes these variables, and the file that they name. */
export const of = (variables: Variables): Effect.Effect<Configuration, InvalidConfiguration, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (files) => {
    let file: string | null = null
    const readFileString: typeof files.readFileString = (...read) =>
      Effect.tap(files.readFileString(...read), (text) => {
        file = text
      })
    return Settings.load(loadOptions).pipe(
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables)))),
      Effect.provideService(FileSystem.FileSystem, { ...files, readFileString }),
      Effect.map((settings) => ({ settings, variables, file }))
    )
  })

/** Reloads `.env` and the file of GATEWAY_CONFIG. The variables of a process cannot change from outside. */
export const read: Effect.Effect<Configuration, InvalidConfiguration, FileSystem.FileSystem> = Effect.flatMap(
  Effect.suspend(() => withDotEnv(process.env)),
  of
)

/** As they were read before. */
export const ofSources = ({ file, variables }: Sources): Effect.Effect<Configuration, InvalidConfiguration> =>
  Effect.provideService(
    of(variables),
    FileSystem.FileSystem,
    FileSystem.makeNoop({ readFileString: () => Effect.succeed(file ?? "") })
  )
