import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import { CredentialId } from "../../src/domain/Ids.ts"
import * as Registry from "../../src/provider/Registry.ts"
import type { Outgoing } from "../../src/provider/transport/Auth.ts"
import type { BedrockAccess } from "../../src/provider/vendors/AmazonBedrock.ts"
import { haiku, nova } from "./protocols/bedrock-converse/bedrock.ts"
import { call, Recorder } from "./protocols/calls.ts"

/** What a provider of the registry sends. */
const sent = (options: Partial<Registry.RegistryOptions>, id: string, asked = call({}, { model: nova })): Outgoing => {
  const outgoing: Array<Outgoing> = []
  const { providers } = Registry.make({
    transport: {
      send: (request) => {
        outgoing.push(request)
        return { pause: () => {}, resume: () => {}, close: () => {}, wasSent: () => true }
      }
    },
    timers: { now: () => Date.UTC(2026, 10, 20, 10), after: () => () => {} },
    reportDefect: () => {},
    credentials: new Map(),
    bedrock: null,
    own: [],
    simulated: false,
    ...options
  })
  providers.find((provider) => provider.id === id)?.open(asked, new Recorder())
  const [first] = outgoing
  if (first === undefined) throw new Error("nothing was sent")
  return first
}

const bedrock = (auth: BedrockAccess["auth"], region = "eu-central-1"): Partial<Registry.RegistryOptions> => ({
  bedrock: { region, auth }
})

describe("a vendor without a credential", () => {
  const asked = call({}, { model: nova })
  const own = {
    id: CredentialId.make("00000000-0000-7000-8000-000000000001"),
    providerId: "groq",
    secret: Redacted.make("gsk-own"),
    version: "1",
    allowedModels: null
  }

  it("is there only for calls that bring one, which alone authenticates them", () => {
    expect(() => sent({}, "groq", { ...asked, credential: own })).toThrow("nothing was sent")
    const { headers, origin } = sent({ callerCredentials: true }, "groq", { ...asked, credential: own })
    expect([origin, headers["authorization"]]).toEqual(["https://api.groq.com", "Bearer gsk-own"])
  })

  it("is there once, and with the operator's where there is one", () => {
    const credentials = new Map([["groq", Redacted.make("gsk-operator")]])
    expect(sent({ callerCredentials: true, credentials }, "groq", asked).headers["authorization"]).toBe(
      "Bearer gsk-operator"
    )
  })
})

describe("Amazon Bedrock", () => {
  it("is there only when it is asked for", () => {
    expect(() => sent({}, "amazon-bedrock")).toThrow("nothing was sent")
  })

  it("is called in its region with a key of its own", () => {
    const { headers, origin, path } = sent(bedrock({ _tag: "Bearer", token: Redacted.make("t") }), "amazon-bedrock")
    expect(origin + path).toBe(
      "https://bedrock-runtime.eu-central-1.amazonaws.com/model/amazon.nova-lite-v1%3A0/converse-stream"
    )
    expect(headers).toMatchObject({ authorization: "Bearer t", accept: "application/vnd.amazon.eventstream" })
  })

  it("is called with a signature as an AWS identity, its session token included", () => {
    const auth = {
      _tag: "Signature",
      accessKeyId: Redacted.make("AKIDEXAMPLE"),
      secretAccessKey: Redacted.make("a-secret"),
      sessionToken: Redacted.make("a-session")
    } as const
    const { headers } = sent(bedrock(auth), "amazon-bedrock")
    expect(headers["authorization"]).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20261120\/eu-central-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/
    )
    expect(headers).toMatchObject({ "x-amz-date": "20261120T100000Z", "x-amz-security-token": "a-session" })
    expect(JSON.stringify(headers)).not.toContain("a-secret")
  })
})

describe("a provider of the operator's own", () => {
  it("that speaks Converse is called with its key at its own place", () => {
    const own = [
      { id: "acme", protocol: "bedrock-converse", baseUrl: "https://host/aws", apiKey: Redacted.make("k") }
    ] as const
    const { headers, origin, path } = sent({ own }, "acme", call({ stream: false }, { model: haiku }))
    expect(origin + path).toBe("https://host/aws/model/us.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse")
    expect(headers["authorization"]).toBe("Bearer k")
  })

  it("may be like Amazon Bedrock, somewhere else", () => {
    const own = [
      { id: "acme", vendor: "amazon-bedrock", baseUrl: "https://vpce.example", apiKey: Redacted.make("k") }
    ] as const
    expect(sent({ own }, "acme").origin).toBe("https://vpce.example")
  })
})
