import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import type { SimulatedRequest } from "../core/Simulator.ts"

/** The AWS identity that a simulator accepts. */
export interface AwsIdentity {
  /** Is sent with the signature. */
  readonly accessKeyId: string
  /** Signs, and is never sent. */
  readonly secretAccessKey: string
  /** Of temporary credentials. */
  readonly sessionToken?: string
  /** What the signature is made for. */
  readonly region: string
}

/** Why a request signed with Signature Version 4 is rejected: the exception's name and message. */
export const rejectedSignature = (
  request: SimulatedRequest,
  identity: AwsIdentity
): { readonly name: string; readonly message: string } | undefined => {
  const given = parsed(request.headers.authorization ?? "")
  if (given === undefined) return refusal("IncompleteSignatureException", "Authorization header cannot be parsed.")
  const [keyId, day, region, service, end, ...more] = given.credential.split("/")
  const time = textOf(request, "x-amz-date")
  if (keyId !== identity.accessKeyId) {
    return refusal("UnrecognizedClientException", "The security token included in the request is invalid.")
  }
  if (region !== identity.region || service !== "bedrock" || end !== "aws4_request" || more.length > 0) {
    return refusal("InvalidSignatureException", "Credential should be scoped to a valid region and service.")
  }
  if (!/^\d{8}T\d{6}Z$/.test(time) || time.slice(0, 8) !== day) {
    return refusal("InvalidSignatureException", "Date in Credential scope does not match the date of the request.")
  }
  if (textOf(request, "x-amz-security-token") !== (identity.sessionToken ?? "")) {
    return refusal("ExpiredTokenException", "The security token included in the request is expired")
  }
  const missing = [...required, ...Object.keys(request.headers).filter((name) => name.startsWith("x-amz-"))].find(
    (name) => !given.names.includes(name)
  )
  if (missing !== undefined) return refusal("InvalidSignatureException", `'${missing}' must be a 'SignedHeader'.`)
  return isRight(request, given, identity, `${day}/${region}/bedrock/aws4_request`, time)
    ? undefined
    : refusal("InvalidSignatureException", "The request signature we calculated does not match the one you provided.")
}

const required = ["content-type", "host", "x-amz-date"]

interface Given {
  readonly credential: string
  readonly names: ReadonlyArray<string>
  readonly signature: string
}

const parsed = (authorization: string): Given | undefined => {
  const found = /^AWS4-HMAC-SHA256 Credential=(\S+), ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/.exec(
    authorization
  )
  const [, credential, names, signature] = found ?? []
  return credential === undefined || names === undefined || signature === undefined
    ? undefined
    : { credential, names: names.split(";"), signature }
}

const isRight = (
  request: SimulatedRequest,
  { names, signature }: Given,
  identity: AwsIdentity,
  scope: string,
  time: string
): boolean => {
  const [path = "", query = ""] = request.path.split("?", 2)
  const canonical = [
    request.method,
    path.replace(/[^/A-Za-z0-9_.~-]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`),
    query.split("&").sort().join("&"),
    ...names.map((name) => `${name}:${textOf(request, name).trim().replace(/ +/g, " ")}`),
    "",
    names.join(";"),
    sha256(request.text)
  ].join("\n")
  let key = hmac(`AWS4${identity.secretAccessKey}`, scope.split("/")[0] ?? "")
  for (const part of scope.split("/").slice(1)) key = hmac(key, part)
  const expected = hmac(key, ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n"))
  return timingSafeEqual(expected, Buffer.from(signature, "hex"))
}

const textOf = ({ headers }: SimulatedRequest, name: string): string => {
  const value = headers[name]
  return typeof value === "string" ? value : (value?.join(",") ?? "")
}

const refusal = (name: string, message: string) => ({ name, message })

const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest()

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")
