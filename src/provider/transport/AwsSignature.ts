import { createHash, createHmac } from "node:crypto"
import * as DateTime from "effect/DateTime"
import * as Redacted from "effect/Redacted"
import type { UpstreamBody } from "../protocols/shared/UpstreamBody.ts"
import { escapeUrl } from "../protocols/shared/UrlEscape.ts"
import type { Auth, Outgoing } from "./Auth.ts"

/** An AWS identity; temporary ones have a session token. */
export interface AwsKeys {
  /** Is sent with the signature. */
  readonly accessKeyId: Redacted.Redacted
  /** Signs, and is never sent. */
  readonly secretAccessKey: Redacted.Redacted
  /** Of temporary credentials. */
  readonly sessionToken: Redacted.Redacted | null
}

export interface SigningScope {
  readonly region: string
  readonly service: string
}

/**
 * Signature Version 4, in the header. The signed path is escaped one more time than the sent path, as all services but S3 require.
 * Headers `x-amz-…` of the request are signed; `x-amz-content-sha256` stands for a body that is sent as bytes.
 */
export const awsSignature = (keys: AwsKeys, scope: SigningScope): Auth => {
  let signing: { readonly day: string; readonly key: Buffer } | undefined
  const keyOf = (day: string): Buffer => {
    if (signing?.day !== day) signing = { day, key: signingKey(Redacted.value(keys.secretAccessKey), day, scope) }
    return signing.key
  }
  return {
    headers: (outgoing, nowMillis) => {
      const time = basicTime(nowMillis)
      const added = {
        "x-amz-date": time,
        ...(keys.sessionToken !== null && { "x-amz-security-token": Redacted.value(keys.sessionToken) })
      }
      const signed: Readonly<Record<string, string>> = {
        ...Object.fromEntries(Object.entries(outgoing.headers).filter(([name]) => isSigned(name))),
        host: new URL(outgoing.origin).host,
        ...added
      }
      const day = time.slice(0, 8)
      const credentialScope = `${day}/${scope.region}/${scope.service}/aws4_request`
      const toSign = ["AWS4-HMAC-SHA256", time, credentialScope, sha256(canonical(outgoing, signed, scope))].join("\n")
      const signature = hmac(keyOf(day), toSign).toString("hex")
      return {
        ...added,
        authorization: `AWS4-HMAC-SHA256 Credential=${Redacted.value(keys.accessKeyId)}/${credentialScope}, SignedHeaders=${namesOf(signed)}, Signature=${signature}`
      }
    },
    secrets: [keys.secretAccessKey, keys.accessKeyId, ...(keys.sessionToken === null ? [] : [keys.sessionToken])]
  }
}

const isSigned = (name: string): boolean => name === "content-type" || name.startsWith("x-amz-")

const canonical = (
  { body, method, path }: Outgoing,
  signed: Readonly<Record<string, string>>,
  { service }: SigningScope
): string => {
  const [pathname = "", query = ""] = path.split("?", 2)
  const lines = sorted(signed).map(([name, value]) => `${name}:${value.trim().replace(/ +/g, " ")}\n`)
  return [
    method ?? "POST",
    service === "s3" ? pathname : pathname.split("/").map(escapeUrl).join("/"),
    query.split("&").sort().join("&"),
    lines.join(""),
    namesOf(signed),
    signed["x-amz-content-sha256"] ?? sha256(body)
  ].join("\n")
}

const namesOf = (signed: Readonly<Record<string, string>>): string =>
  sorted(signed)
    .map(([name]) => name)
    .join(";")

const sorted = (headers: Readonly<Record<string, string>>): ReadonlyArray<readonly [string, string]> =>
  Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1))

/** Valid for one day; the secret itself never signs a request. */
const signingKey = (secret: string, day: string, { region, service }: SigningScope): Buffer =>
  [day, region, service, "aws4_request"].reduce(hmac, Buffer.from(`AWS4${secret}`, "utf8"))

/** As in `20150830T123600Z`. */
const basicTime = (millis: number): string =>
  DateTime.formatIso(DateTime.unsafeMake(Math.floor(millis))).replace(/[:-]|\.\d{3}/g, "")

const hmac = (key: Buffer, text: string): Buffer => createHmac("sha256", key).update(text, "utf8").digest()

const sha256 = (data: UpstreamBody): string => createHash("sha256").update(data).digest("hex")
