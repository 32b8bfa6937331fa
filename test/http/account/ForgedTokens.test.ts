// Promise: Whatever is not a token that the issuer has signed gets the one 401, as any request without an identity does.
import {
  constants,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSign,
  generateKeyPairSync,
  type KeyObject,
  privateEncrypt,
  sign as signBytes
} from "node:crypto"
import { CompactSign, exportJWK, exportPKCS8, FlattenedSign } from "jose"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type AccountNode, sendTo, startNode } from "../../support/AccountService.ts"
import { type IssuerKey, keyOf, type StubIssuer, signed, startIssuer } from "../../support/StubIssuer.ts"

let issuer: StubIssuer
let node: AccountNode
let rsa: IssuerKey
let ec: IssuerKey
let ed: IssuerKey
let privateRsa: KeyObject
let privateEc: KeyObject
const foreignRsa = generateKeyPairSync("rsa", { modulusLength: 2048 })
const foreignEc = generateKeyPairSync("ec", { namedCurve: "P-256" })

beforeAll(async () => {
  issuer = await startIssuer()
  const keys = await Promise.all((["RS256", "ES256", "EdDSA", "PS256"] as const).map((alg) => keyOf(alg, `key ${alg}`)))
  issuer.keys = keys.map(({ publicJwk }) => publicJwk)
  ;[rsa, ec, ed] = keys as [IssuerKey, IssuerKey, IssuerKey, IssuerKey]
  privateRsa = createPrivateKey(await exportPKCS8(rsa.privateKey))
  privateEc = createPrivateKey(await exportPKCS8(ec.privateKey))
  node = await startNode({ DATA_DIR: ":memory:", OIDC_ISSUER: issuer.url, OIDC_CLIENT_ID: "gateway" })
}, 120_000)
afterAll(async () => {
  await node.stop()
  await issuer.close()
})

const base64url = (value: unknown): string =>
  Buffer.from(typeof value === "string" || value instanceof Uint8Array ? value : JSON.stringify(value)).toString(
    "base64url"
  )
const seconds = () => Math.floor(Date.now() / 1_000)
const claims = (changes: object = {}) => ({
  iss: issuer.url,
  aud: "gateway",
  sub: "mallory",
  iat: seconds(),
  exp: seconds() + 300,
  ...changes
})

type Signer = (input: Buffer) => Uint8Array | string
/** A token with this header over these claims, or over a payload as it stands. */
const token = (header: unknown, signer: Signer, payload: unknown = claims()): string => {
  const input = `${base64url(header)}.${base64url(payload)}`
  return `${input}.${base64url(signer(Buffer.from(input)))}`
}
const bytes =
  (...values: ReadonlyArray<Uint8Array | string>): Signer =>
  () =>
    Buffer.concat(values.map((value) => (typeof value === "string" ? Buffer.from(value, "hex") : value)))
const empty: Signer = () => ""
const mac =
  (secret: Buffer | string, hash = "sha256"): Signer =>
  (input) =>
    createHmac(hash, secret).update(input).digest()
const rsaWith =
  (hash: string, key: () => KeyObject, padding = constants.RSA_PKCS1_PADDING): Signer =>
  (input) =>
    createSign(hash).update(input).sign({ key: key(), padding })
const ecWith =
  (hash: string, key: () => KeyObject, dsaEncoding: "der" | "ieee-p1363" = "ieee-p1363"): Signer =>
  (input) =>
    createSign(hash).update(input).sign({ key: key(), dsaEncoding })
/** The right signature, changed. */
const changed =
  (signer: () => Signer, change: (signature: Buffer) => Buffer): Signer =>
  (input) =>
    change(Buffer.from(signer()(input)))

const rightRsa = () => rsaWith("RSA-SHA256", () => privateRsa)
const rightEc = () => ecWith("SHA256", () => privateEc)
const foreign = () => rsaWith("RSA-SHA256", () => foreignRsa.privateKey)
const flipped = (at: number) => (signature: Buffer) => {
  const place = at < 0 ? signature.length + at : at
  signature.writeUInt8(signature.readUInt8(place) ^ 1, place)
  return signature
}
const zeros = (length: number) => Buffer.alloc(length)
/** The order of P-256. */
const order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
const one = `${"00".repeat(31)}01`

const RS = () => ({ alg: "RS256", kid: rsa.kid })
const ES = () => ({ alg: "ES256", kid: ec.kid })

const unsigned = (): Record<string, string> => {
  const spellings = ["none", "None", "NONE", "nOnE", "none ", " none", "none\0", "", "null", "NoNe"]
  const right = token(RS(), rightRsa(), claims({ sub: "alice" })).split(".")[2] ?? ""
  return Object.fromEntries([
    ...spellings.flatMap((alg) => [
      [`alg '${alg}' without signature`, token({ alg }, empty)],
      [`alg '${alg}' with a kid`, token({ alg, kid: rsa.kid }, empty)],
      [`alg '${alg}' with a signature of another token`, `${token({ alg, kid: rsa.kid }, empty)}${right}`]
    ]),
    ...[null, 0, [], ["RS256"], {}, true].map((alg) => [
      `alg ${JSON.stringify(alg)}`,
      token({ alg, kid: rsa.kid }, empty)
    ]),
    ["no alg", token({ kid: rsa.kid }, empty)],
    ["no header", token("", empty)],
    ["RS256 without signature", token(RS(), empty)],
    ["ES256 without signature", token(ES(), empty)],
    ["EdDSA without signature", token({ alg: "EdDSA", kid: ed.kid }, empty)],
    ["RS256 without the last part", token(RS(), empty).slice(0, -1)],
    ["the signature of another token", `${token(RS(), empty)}${right}`]
  ])
}

const confused = (): Record<string, string> => {
  const publicKey = createPublicKey(privateRsa)
  const pem = publicKey.export({ type: "spki", format: "pem" }) as string
  const secrets: Record<string, Buffer | string> = {
    pem,
    "pem without its end of line": pem.trim(),
    "pem of PKCS#1": publicKey.export({ type: "pkcs1", format: "pem" }) as string,
    der: publicKey.export({ type: "spki", format: "der" }),
    jwk: JSON.stringify(rsa.publicJwk),
    modulus: Buffer.from(rsa.publicJwk.n ?? "", "base64url"),
    "modulus as text": rsa.publicJwk.n ?? "",
    nothing: "",
    "the client id": "gateway",
    "a zero byte": zeros(1)
  }
  const hashes = { HS256: "sha256", HS384: "sha384", HS512: "sha512" }
  return Object.fromEntries([
    ...Object.entries(secrets).flatMap(([name, secret]) =>
      Object.entries(hashes).map(([alg, hash]) => [
        `${alg} with ${name}`,
        token({ alg, kid: rsa.kid }, mac(secret, hash))
      ])
    ),
    ["PS256 said of a signature of PKCS#1", token({ ...RS(), alg: "PS256" }, rightRsa())],
    [
      "RS256 said of a signature of PSS",
      token(
        RS(),
        rsaWith("RSA-SHA256", () => privateRsa, constants.RSA_PKCS1_PSS_PADDING)
      )
    ],
    [
      "RS512 of the right key",
      token(
        { ...RS(), alg: "RS512" },
        rsaWith("RSA-SHA512", () => privateRsa)
      )
    ],
    [
      "RS384 of the right key",
      token(
        { ...RS(), alg: "RS384" },
        rsaWith("RSA-SHA384", () => privateRsa)
      )
    ],
    [
      "RS1 of the right key",
      token(
        { ...RS(), alg: "RS1" },
        rsaWith("RSA-SHA1", () => privateRsa)
      )
    ],
    [
      "RS256 over SHA-1",
      token(
        RS(),
        rsaWith("RSA-SHA1", () => privateRsa)
      )
    ],
    ["rs256 in small letters", token({ ...RS(), alg: "rs256" }, rightRsa())],
    ["RS256 with a zero byte", token({ ...RS(), alg: "RS256\0" }, rightRsa())],
    ["ES256 of an RSA key", token({ ...ES(), kid: rsa.kid }, rightEc())],
    ["RS256 of an EC key", token({ ...RS(), kid: ec.kid }, rightRsa())],
    ["EdDSA of an EC key", token({ alg: "EdDSA", kid: ec.kid }, rightEc())]
  ])
}

const broken = (): Record<string, string> => {
  const size = 256
  const rsaChanges: Record<string, (signature: Buffer) => Buffer> = {
    "the first bit": flipped(0),
    "the last bit": flipped(-1),
    "a bit in the middle": flipped(100),
    "a byte less": (signature) => signature.subarray(1),
    "a byte less at the end": (signature) => signature.subarray(0, -1),
    "a zero before": (signature) => Buffer.concat([zeros(1), signature]),
    "a zero behind": (signature) => Buffer.concat([signature, zeros(1)]),
    reversed: (signature) => Buffer.from(signature).reverse(),
    twice: (signature) => Buffer.concat([signature, signature])
  }
  const modulus = Buffer.from(rsa.publicJwk.n ?? "", "base64url")
  const withoutDigestInfo: Signer = (input) =>
    privateEncrypt({ key: privateRsa, padding: constants.RSA_PKCS1_PADDING }, input.subarray(0, 32))
  return Object.fromEntries([
    ...Object.entries(rsaChanges).map(([name, change]) => [`RS256: ${name}`, token(RS(), changed(rightRsa, change))]),
    ["RS256: zero", token(RS(), bytes(zeros(size)))],
    ["RS256: one", token(RS(), bytes(zeros(size - 1), "01"))],
    ["RS256: the modulus", token(RS(), bytes(modulus))],
    ["RS256: without the name of the hash", token(RS(), withoutDigestInfo)],
    ["EdDSA: zero", token({ alg: "EdDSA", kid: ed.kid }, bytes(zeros(64)))],
    ["EdDSA: the neutral point", token({ alg: "EdDSA", kid: ed.kid }, bytes("01", zeros(63)))],
    [
      "EdDSA of another curve",
      token({ alg: "EdDSA", kid: ed.kid }, (input) => signBytes(null, input, generateKeyPairSync("ed448").privateKey))
    ]
  ])
}

const brokenEc = (): Record<string, string> => {
  const values: Record<string, readonly [r: string, s: string]> = {
    "zero and zero": ["00".repeat(32), "00".repeat(32)],
    "zero and one": ["00".repeat(32), one],
    "one and zero": [one, "00".repeat(32)],
    "one and one": [one, one],
    "the order twice": [order, order],
    "the order and one": [order, one],
    "the highest number": ["ff".repeat(32), "ff".repeat(32)]
  }
  const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey
  const k256 = generateKeyPairSync("ec", { namedCurve: "secp256k1" }).privateKey
  return Object.fromEntries([
    ...Object.entries(values).map(([name, parts]) => [`ES256: ${name}`, token(ES(), bytes(...parts))]),
    [
      "ES256 in DER",
      token(
        ES(),
        ecWith("SHA256", () => privateEc, "der")
      )
    ],
    [
      "ES256: a byte less",
      token(
        ES(),
        changed(rightEc, (signature) => signature.subarray(1))
      )
    ],
    [
      "ES256: a byte more",
      token(
        ES(),
        changed(rightEc, (signature) => Buffer.concat([signature, zeros(1)]))
      )
    ],
    ["ES256: a changed r", token(ES(), changed(rightEc, flipped(5)))],
    ["ES256: a changed s", token(ES(), changed(rightEc, flipped(40)))],
    [
      "ES256: r and s exchanged",
      token(
        ES(),
        changed(rightEc, (all) => Buffer.concat([all.subarray(32), all.subarray(0, 32)]))
      )
    ],
    [
      "ES256 over SHA-1",
      token(
        ES(),
        ecWith("SHA1", () => privateEc)
      )
    ],
    [
      "ES256 of a foreign key",
      token(
        ES(),
        ecWith("SHA256", () => foreignEc.privateKey)
      )
    ],
    [
      "ES256 by P-384",
      token(
        ES(),
        ecWith("SHA256", () => p384)
      )
    ],
    [
      "ES384",
      token(
        { ...ES(), alg: "ES384" },
        ecWith("SHA384", () => p384)
      )
    ],
    [
      "ES256 by secp256k1",
      token(
        ES(),
        ecWith("SHA256", () => k256)
      )
    ],
    [
      "ES256K",
      token(
        { ...ES(), alg: "ES256K" },
        ecWith("SHA256", () => k256)
      )
    ]
  ])
}

/** Headers that bring a key, or say where one is. */
const selfServed = async (): Promise<Record<string, string>> => {
  const jwk = { ...(await exportJWK(foreignRsa.publicKey)), alg: "RS256", use: "sig" }
  const der = foreignRsa.publicKey.export({ type: "spki", format: "der" }).toString("base64")
  const headers: Record<string, object> = {
    jwk: { jwk },
    "jwk with the kid of the issuer's": { jwk: { ...jwk, kid: rsa.kid } },
    "the issuer's jwk": { jwk: rsa.publicJwk },
    jku: { jku: `${issuer.url}/forged-keys` },
    "jku as data": { jku: `data:application/json,${encodeURIComponent(JSON.stringify({ keys: [jwk] }))}` },
    x5c: { x5c: [der] },
    x5u: { x5u: `${issuer.url}/forged-certificate` },
    x5t: { x5t: "AAAA", "x5t#S256": "AAAA" }
  }
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, header]) => [
      [name, token({ alg: "RS256", ...header }, foreign())],
      [`${name}, and a kid of the issuer`, token({ ...RS(), ...header }, foreign())],
      [`${name}, and an unknown kid`, token({ ...RS(), kid: "forged", ...header }, foreign())]
    ])
  )
}

const kids = (): Record<string, string> => {
  const values = [
    "../../../../dev/null",
    "/dev/null",
    "file:///etc/passwd",
    "key RS256\0",
    "' or '1'='1",
    "key RS256' union select 'a secret",
    "__proto__",
    "constructor",
    "",
    "x".repeat(2_000),
    0,
    null,
    ["key RS256"],
    { kid: "key RS256" }
  ]
  return Object.fromEntries(
    values.flatMap((kid) => [
      [`kid ${JSON.stringify(kid).slice(0, 40)}, signed by another key`, token({ alg: "RS256", kid }, foreign())],
      [`kid ${JSON.stringify(kid).slice(0, 40)}, HS256 with nothing`, token({ alg: "HS256", kid }, mac(""))]
    ])
  )
}

/** What the issuer's own key has signed, in a form that must not count. */
const misused = async (): Promise<Record<string, string>> => {
  const body = base64url(claims())
  const raw = new TextEncoder().encode(JSON.stringify(claims()))
  const unencoded = await new FlattenedSign(raw)
    .setProtectedHeader({ ...RS(), b64: false, crit: ["b64"] })
    .sign(rsa.privateKey, { crit: { b64: true } })
  const nested = await new CompactSign(new TextEncoder().encode(await signed(rsa, claims())))
    .setProtectedHeader({ ...RS(), cty: "JWT" })
    .sign(rsa.privateKey)
  const headers: Record<string, object> = {
    "crit of an unknown name": { crit: ["exp-2"], "exp-2": 1 },
    "crit of what is missing": { crit: ["missing"] },
    "crit without a name": { crit: [] },
    "crit that is no list": { crit: "alg" },
    "crit of numbers": { crit: [1] }
  }
  const payloads: Record<string, unknown> = {
    "no JSON": "alice",
    "a list": [claims()],
    null: "null",
    "a text": '"alice"',
    "an end as text": claims({ exp: String(seconds() + 300) }),
    "an end without number": claims({ exp: null }),
    "a begin as text": claims({ nbf: "0" }),
    "issuers in a list": claims({ iss: [issuer.url] }),
    "an issuer with a slash": claims({ iss: `${issuer.url}/` }),
    "another issuer": claims({ iss: "https://issuer.example" }),
    "another audience": claims({ aud: "another" }),
    "an audience as an object": claims({ aud: { gateway: true } }),
    "no subject": claims({ sub: "" }),
    "a subject in a list": claims({ sub: ["alice"] }),
    "an end that was": claims({ exp: seconds() - 3_600 }),
    "a begin that will be": claims({ nbf: seconds() + 3_600 }),
    "a time of issue that will be": claims({ iat: seconds() + 3_600 })
  }
  return Object.fromEntries([
    ["an unencoded payload", `${unencoded.protected}.${body}.${unencoded.signature}`],
    ["an unencoded payload that is left out", `${unencoded.protected}..${unencoded.signature}`],
    ["a token in a token", nested],
    ["the JSON form", JSON.stringify({ protected: base64url(RS()), payload: body, signature: "" })],
    ["five parts", `${token(RS(), rightRsa())}.a.b`],
    ["the end of a token twice", `${token(RS(), rightRsa())}.${body}`],
    ...Object.entries(headers).map(([name, header]) => [name, token({ ...RS(), ...header }, rightRsa())]),
    ...Object.entries(payloads).map(([name, payload]) => [`claims: ${name}`, token(RS(), rightRsa(), payload)])
  ])
}

/** Names twice, so that one reader may see the first and another one the last. */
const twice = (): Record<string, string> => {
  const [first, last] = [
    '{"alg":"none","alg":"RS256","kid":"key RS256"}',
    '{"alg":"RS256","alg":"none","kid":"key RS256"}'
  ]
  const body = `{"sub":"alice",${JSON.stringify(claims()).slice(1)}`
  return {
    "alg twice, none first": token(first, empty),
    "alg twice, none last": token(last, empty),
    "alg twice, signed by another key": token(first, foreign()),
    "kid twice": token('{"alg":"RS256","kid":"forged","kid":"key RS256"}', foreign()),
    "a claim twice": token(RS(), foreign(), body),
    "a claim twice, with the signature of one": `${token(RS(), empty, body)}${token(RS(), rightRsa()).split(".")[2]}`
  }
}

const meWith = (bearer: string) => sendTo(node.url, { authorization: `Bearer ${bearer}` })("GET", "/api/me")

it("a token of each key of the issuer is accepted, so that what follows is refused for what it says", async () => {
  for (const key of [rsa, ec, ed]) expect((await meWith(await signed(key, claims()))).status).toBe(200)
  expect((await meWith(token(RS(), rightRsa()))).status).toBe(200)
  expect((await meWith(token(ES(), rightEc()))).status).toBe(200)
})

describe("forged tokens", () => {
  it.each([
    ["without a signature", unsigned, 43],
    ["with another algorithm than the key's", confused, 41],
    ["with a signature that is not right", broken, 16],
    ["with a signature of ES256 that is not right", brokenEc, 19],
    ["with a key of their own", selfServed, 24],
    ["with a name of a key that is made up", kids, 28],
    ["of the issuer, but not for this use", misused, 28],
    ["with a name twice", twice, 6]
  ])("%s all get the answer of a request without an identity", async (_, vectors, count) => {
    const refusal = await (await sendTo(node.url, {})("GET", "/api/me")).text()
    const all = Object.entries(await vectors())
    expect(all.length).toBe(count)
    for (const [name, forged] of all) {
      const response = await meWith(forged)
      expect([name, response.status, await response.text()]).toEqual([name, 401, refusal])
    }
    expect(issuer.requests.filter((path) => path.includes("forged"))).toEqual([])
  })
})
