import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Settings from "../config/Settings.ts"
import type { Bootstrapped } from "./FirstStart.ts"

/** Prints where the gateway listens and, after a first start, the key and a first call. */
export const printBanner = (
  settings: Settings.Settings,
  bootstrapped: Bootstrapped,
  port: number
): Effect.Effect<void> => {
  const host = settings.host === "0.0.0.0" || settings.host === "::" ? "127.0.0.1" : settings.host
  const base = `http://${host.includes(":") ? `[${host}]` : host}:${port}`
  const lines = [`Model routing gateway at ${base}/v1`]
  if (settings.simulated)
    lines.push("Simulated providers are on: no call leaves this machine and none costs real money.")
  if (!bootstrapped.created) {
    return bootstrapped.ignored
      ? Effect.zipRight(
          Console.log(lines.join("\n")),
          Effect.logWarning("GATEWAY_BOOTSTRAP_* were ignored: they act on an empty database only")
        )
      : Console.log(lines.join("\n"))
  }
  const key = bootstrapped.key === null ? "$GATEWAY_API_KEY" : Redacted.value(bootstrapped.key)
  if (bootstrapped.key !== null) lines.push("", `API key (shown once, keep it): ${key}`)
  lines.push(
    "",
    "Try it:",
    `curl ${base}/v1/chat/completions \\`,
    `  -H "authorization: Bearer ${key}" -H "content-type: application/json" \\`,
    `  -d '{"model":"auto","messages":[{"role":"user","content":"Say hello."}]}'`,
    ""
  )
  return Console.log(lines.join("\n"))
}
