import { hash } from "node:crypto"
import type { Served } from "../domain/ChatEvent.ts"

interface Said {
  readonly model?: string | undefined
  readonly serviceTier?: string | undefined
  readonly systemFingerprint?: string | undefined
}

/**
 * Who an upstream says has answered, as it may be told to clients. An upstream can put anything into these fields: only tiers
 * that are documented somewhere pass, a model name that is one, and a fingerprint only as its digest, which changes when it
 * does.
 */
export const servedOf = ({ model, serviceTier, systemFingerprint }: Said): Served => ({
  _tag: "Served",
  ...(model !== undefined && modelName.test(model) && { model }),
  ...(serviceTier !== undefined && serviceTiers.has(serviceTier) && { serviceTier }),
  ...(systemFingerprint !== undefined && {
    systemFingerprint: `fp_${hash("sha256", systemFingerprint, "hex").slice(0, 12)}`
  })
})

const modelName = /^[A-Za-z0-9][\w.:/@+-]{0,127}$/

const serviceTiers: ReadonlySet<string> = new Set([
  "auto",
  "batch",
  "default",
  "flex",
  "on_demand",
  "performance",
  "priority",
  "reserved",
  "scale",
  "standard",
  "standard_only"
])
