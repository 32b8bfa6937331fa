import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import { bedrockConverse } from "../../../src/provider/protocols/bedrock-converse/BedrockConverse.ts"
import type { Outgoing } from "../../../src/provider/transport/Auth.ts"
import { awsSignature } from "../../../src/provider/transport/AwsSignature.ts"
import { rejectedSignature } from "../../../src/testing/simulators/bedrock/AwsSignatureRules.ts"
import type { SimulatedRequest } from "../../../src/testing/simulators/core/Simulator.ts"
import { nova } from "../protocols/bedrock-converse/bedrock.ts"
import { call } from "../protocols/calls.ts"

const accessKeyId = "AKIDEXAMPLE"
const secretAccessKey = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

const signer = (region: string, sessionToken: string | null = null) =>
  awsSignature(
    {
      accessKeyId: Redacted.make(accessKeyId),
      secretAccessKey: Redacted.make(secretAccessKey),
      sessionToken: sessionToken === null ? null : Redacted.make(sessionToken)
    },
    { region, service: "bedrock" }
  )

interface Vector {
  readonly name: string
  readonly model: string
  readonly stream: boolean
  readonly origin: string
  readonly region: string
  readonly sessionToken: string | null
  readonly at: number
  readonly body: string
  readonly path: string
  readonly authorization: string
}

/** What @smithy/signature-v4 5.7.5 and aws4 1.13.2 both sign, with the same key. */
const vectors: ReadonlyArray<Vector> = [
  {
    name: "an id with a colon, a body of several bytes a letter",
    model: "us.anthropic.claude-haiku-4-5-20251001-v1:0",
    stream: true,
    origin: "https://bedrock-runtime.us-east-1.amazonaws.com",
    region: "us-east-1",
    sessionToken: null,
    at: Date.UTC(2026, 10, 20, 10),
    body: '{"messages":[{"role":"user","content":[{"text":"héllo 🌍"}]}]}',
    path: "/model/us.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse-stream",
    authorization:
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261120/us-east-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=e2e9fb74035c2f882452854455c575a363a252571379e6ae007a739c60b0be2d"
  },
  {
    name: "an ARN with slashes and brackets, a session token, the last second of a day",
    model: "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc(1)!*'",
    stream: false,
    origin: "https://bedrock-runtime.eu-west-1.amazonaws.com",
    region: "eu-west-1",
    sessionToken: "IQoJb3JpZ2luX2Vj+a/b=",
    at: Date.UTC(2026, 1, 3, 23, 59, 59, 999),
    body: "{}",
    path: "/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Aapplication-inference-profile%2Fabc%281%29%21%2A%27/converse",
    authorization:
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260203/eu-west-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=7f0c94ccd4a6efa7d3811975a7b2246dbe6b8463ce17701b07605d80b980bbcf"
  },
  {
    name: "an origin with a port",
    model: "amazon.nova-lite-v1:0",
    stream: false,
    origin: "http://127.0.0.1:8123",
    region: "us-east-1",
    sessionToken: null,
    at: Date.UTC(2026, 10, 21),
    body: '{"a":1}',
    path: "/model/amazon.nova-lite-v1%3A0/converse",
    authorization:
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261121/us-east-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=52ebe82817781462c82371ff1707c1dfda6b9443a91ad63dd703aae0c03012a5"
  }
]

const outgoing = ({ body, origin, path }: Pick<Vector, "body" | "origin" | "path">): Outgoing => ({
  origin,
  path,
  headers: { "content-type": "application/json", accept: "application/json", "user-agent": "x" },
  body
})

const requestOf = (
  { body, headers, origin, path }: Outgoing,
  added: Readonly<Record<string, string>>
): SimulatedRequest => ({
  method: "POST",
  path,
  headers: { ...headers, host: new URL(origin).host, ...added },
  text: String(body),
  closed: Promise.resolve("answered")
})

describe("a signature", () => {
  for (const vector of vectors) {
    it(`is what the official signer makes of ${vector.name}`, () => {
      const model = { ...nova, upstreamModel: vector.model }
      expect(bedrockConverse.path(call({ stream: vector.stream }, { model }))).toBe(vector.path)
      const headers = signer(vector.region, vector.sessionToken).headers(outgoing(vector), vector.at)
      expect(headers["authorization"]).toBe(vector.authorization)
      expect(headers["x-amz-security-token"]).toBe(vector.sessionToken ?? undefined)
      expect(Object.keys(headers).sort()).toEqual(
        ["authorization", "x-amz-date", ...(vector.sessionToken === null ? [] : ["x-amz-security-token"])].sort()
      )
    })
  }

  it("for S3 is that of the examples in its documentation, with the path as it is sent", () => {
    const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    const keys = {
      accessKeyId: Redacted.make("AKIAIOSFODNN7EXAMPLE"),
      secretAccessKey: Redacted.make("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
      sessionToken: null
    }
    const { headers } = awsSignature(keys, { region: "us-east-1", service: "s3" })
    for (const [path, signature] of [
      ["/?lifecycle=", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"],
      ["/?max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"]
    ] as const) {
      const request = {
        method: "GET",
        origin: "https://examplebucket.s3.amazonaws.com",
        path,
        headers: { "x-amz-content-sha256": emptyHash },
        body: ""
      } as const
      expect(headers(request, Date.UTC(2013, 4, 24))["authorization"]).toBe(
        `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=${signature}`
      )
    }
  })

  it("is made with the key of its day, also when one signer lives through midnight", () => {
    const [first, , last] = vectors
    if (first === undefined || last === undefined) throw new Error("vectors")
    const one = signer("us-east-1")
    for (const vector of [first, last, first]) {
      expect(one.headers(outgoing(vector), vector.at)["authorization"]).toBe(vector.authorization)
    }
  })

  it("is the same for a body that is sent as bytes", () => {
    const text = { origin: "https://x", path: "/", body: '{"text":"語"}' }
    const bytes = { ...outgoing(text), body: Buffer.from(text.body) }
    const auth = signer("us-east-1", null)
    expect(auth.headers(bytes, 0)).toEqual(auth.headers(outgoing(text), 0))
    expect(auth.headers({ ...bytes, body: Buffer.from("{}") }, 0)).not.toEqual(auth.headers(bytes, 0))
  })

  it("never shows its secrets, and names all of them for the scrubber", () => {
    const auth = signer("us-east-1", "a-token")
    expect(auth.secrets.map((secret) => Redacted.value(secret)).sort()).toEqual(
      [accessKeyId, secretAccessKey, "a-token"].sort()
    )
    const headers = auth.headers(outgoing({ body: "{}", origin: "https://x", path: "/" }), 0)
    expect(JSON.stringify(headers)).not.toContain(secretAccessKey)
  })
})

describe("the simulator's check", () => {
  for (const vector of vectors) {
    const identity = {
      accessKeyId,
      secretAccessKey,
      region: vector.region,
      ...(vector.sessionToken !== null && { sessionToken: vector.sessionToken })
    }
    const right = requestOf(outgoing(vector), {
      "x-amz-date": new Date(vector.at).toISOString().replace(/[:-]|\.\d{3}/g, ""),
      authorization: vector.authorization,
      ...(vector.sessionToken !== null && { "x-amz-security-token": vector.sessionToken })
    })
    const nameOf = (request: SimulatedRequest, who = identity) => rejectedSignature(request, who)?.name

    it(`takes the official signature of ${vector.name}, and no other`, () => {
      expect(nameOf(right)).toBeUndefined()
      expect(nameOf({ ...right, text: `${right.text} ` })).toBe("InvalidSignatureException")
      expect(nameOf({ ...right, path: right.path.replace("%3A", ":") })).toBe("InvalidSignatureException")
      expect(nameOf({ ...right, path: right.path.replace("%3A", "%253A") })).toBe("InvalidSignatureException")
      expect(nameOf({ ...right, headers: { ...right.headers, host: "elsewhere" } })).toBe("InvalidSignatureException")
      expect(nameOf({ ...right, headers: { ...right.headers, "x-amz-more": "1" } })).toBe("InvalidSignatureException")
      expect(nameOf(right, { ...identity, secretAccessKey: "another" })).toBe("InvalidSignatureException")
      expect(nameOf(right, { ...identity, region: "ap-south-1" })).toBe("InvalidSignatureException")
      expect(nameOf(right, { ...identity, accessKeyId: "AKIDOTHER" })).toBe("UnrecognizedClientException")
      expect(nameOf(right, { ...identity, sessionToken: "old" })).toBe("ExpiredTokenException")
      const { authorization: _none, ...headers } = right.headers
      expect(nameOf({ ...right, headers })).toBe("IncompleteSignatureException")
    })
  }
})
