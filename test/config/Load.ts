import * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { withoutEffect } from "../../src/catalog/WithoutEffect.ts"
import { type LoadOptions, load, type Settings } from "../../src/config/Settings.ts"
import { unsentEfforts } from "../../src/provider/protocols/UnsentEfforts.ts"

const options: LoadOptions = {
  vendors: [
    { id: "openai", env: ["OPENAI_API_KEY"] },
    { id: "google", env: ["GEMINI_API_KEY", "GOOGLE_API_KEY"] }
  ],
  isMasterKey: (text) => text.length === 44,
  isApiKey: (text) => text.startsWith("mrg_sk_"),
  builtInIds: ["openai", "google", "sim"],
  vendorIds: ["openai", "openrouter", "azure"],
  vendorIdsWithoutBaseUrl: ["azure"],
  catalogModelIds: new Set(["openai/gpt-5", "openai/o3", "google/gemini"]),
  vendorProtocols: new Map([
    ["openai", "openai-chat"],
    ["google", "gemini"],
    ["openrouter", "openai-chat"],
    ["azure", "openai-chat"]
  ]),
  withoutEffect,
  unsentEfforts: ({ id, protocol, upstreamModel }) => unsentEfforts(protocol, upstreamModel ?? id)
}

export interface Given {
  readonly env?: Readonly<Record<string, string>>
  /** What the file that `GATEWAY_CONFIG` names holds: text, or a value to be written as JSON. */
  readonly file?: unknown
}

const file = "gateway.json"

/** Loads settings from a given environment and file. */
export const loadGiven = (given: Given) => {
  const env = { ...(given.file === undefined ? {} : { GATEWAY_CONFIG: file }), ...given.env }
  const text = typeof given.file === "string" ? given.file : JSON.stringify(given.file)
  return load(options).pipe(
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env)))),
    Effect.provide(
      FileSystem.layerNoop({
        readFileString: (path) =>
          path === file
            ? Effect.succeed(text)
            : Effect.fail(
                new PlatformError.SystemError({ reason: "NotFound", module: "FileSystem", method: "readFileString" })
              )
      })
    )
  )
}

/** Issues as `path: message` lines; none when the settings load. */
export const issuesGiven = (given: Given): Effect.Effect<ReadonlyArray<string>> =>
  loadGiven(given).pipe(
    Effect.as([]),
    Effect.catchTag("InvalidConfiguration", (failure) => Effect.succeed(failure.message.split("\n")))
  )

export const settingsGiven = (given: Given): Effect.Effect<Settings> => Effect.orDie(loadGiven(given))
