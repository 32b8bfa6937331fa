import { hash } from "node:crypto"
import type { ResponseInfo } from "../../../domain/ChatEvent.ts"

interface ReportedInfo {
  readonly model?: string | undefined
  readonly serviceTier?: string | undefined
  readonly systemFingerprint?: string | undefined
}

/**
 * The model, service tier and fingerprint that an upstream reports, as clients may see them. An upstream can put any text into
 * these fields: only documented tiers and well-formed model names pass, and a fingerprint passes as its digest.
 */
export const responseInfoOf = ({ model, serviceTier, systemFingerprint }: ReportedInfo): ResponseInfo => ({
  _tag: "ResponseInfo",
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
