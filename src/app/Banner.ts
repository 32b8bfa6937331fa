import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Settings from "../config/Settings.ts"
import { listenUrl } from "../identity/sessions/PublicUrl.ts"
import type { Bootstrapped } from "./FirstStart.ts"

/** Prints where the gateway listens, a link for signing in and, after a first start, the key and a first call. */
export const printBanner = (
  settings: Settings.Settings,
  bootstrapped: Bootstrapped,
  port: number,
  signInLink: string | undefined
): Effect.Effect<void> => {
  const base = listenUrl(settings.host, port)
  const lines = [`Model routing gateway at ${base}/v1`]
  if (signInLink !== undefined) lines.push(`Dashboard ${signInLink}`)
  if (settings.simulated) lines.push(simulationLine(settings))
  if (!bootstrapped.created) return Console.log(lines.join("\n"))
  const key = bootstrapped.key === null ? "$GATEWAY_API_KEY" : Redacted.value(bootstrapped.key)
  if (bootstrapped.key !== null) lines.push("", keyLine(bootstrapped.key))
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

/** A first start that does not come to listen has made a key that no later one prints. */
export const printKeyOfFailedStart = (bootstrapped: Bootstrapped): Effect.Effect<void> =>
  bootstrapped.created && bootstrapped.key !== null ? Console.log(keyLine(bootstrapped.key)) : Effect.void

const keyLine = (key: Redacted.Redacted): string => `API key (shown once, keep it): ${Redacted.value(key)}`

/** Only where nothing else can be called does no call leave the machine. */
const simulationLine = ({ bedrock, providers, vendorKeys }: Settings.Settings): string => {
  const others = [
    ...vendorKeys.keys(),
    ...(bedrock === null ? [] : ["amazon-bedrock"]),
    ...providers.map(({ id }) => id)
  ]
  return others.length === 0
    ? "Simulated providers are on: no call leaves this machine and none costs real money."
    : `Simulated providers are on beside ${others.join(", ")}: only calls of sim models stay on this machine and cost no real money.`
}
