import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as LanguageModel from "@effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { transform } from "esbuild"
import { expect, it } from "vitest"
import * as EffectAi from "../../src/effectAi/index.ts"
import * as Library from "../../src/index.ts"

const source = new URL("../../src/", import.meta.url)

/** The code of every `@example` in the sources of the library, by file and number. */
const examples = readdirSync(fileURLToPath(source), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.startsWith("dashboard"))
  .flatMap((file) =>
    [...readFileSync(new URL(file, source), "utf8").matchAll(/@example\n((?:\s*\* .*\n)+?)\s*\*\//g)].map(
      ([, lines = ""], index) => [`${file} ${index}`, lines.replaceAll(/^\s*\* ?/gm, "")] as const
    )
  )

const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as FunctionConstructor

it("the main exports have examples", () => {
  expect(examples.map(([name]) => name).length).toBeGreaterThanOrEqual(8)
})

it.each(examples)("the example in %s runs", async (_, code) => {
  const scope = { ...Library, ...EffectAi, Effect, LanguageModel, Layer, Stream }
  const { code: plain } = await transform(code, { loader: "ts" })
  await new AsyncFunction(...Object.keys(scope), plain)(...Object.values(scope))
})
