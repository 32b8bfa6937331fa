import { expect, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as LogLevel from "effect/LogLevel"
import * as Redacted from "effect/Redacted"
import { describe } from "vitest"
import { isLoopbackAddress } from "../../src/config/Environment.ts"
import { networkText } from "../../src/domain/IpNetwork.ts"
import { issuesGiven, loadGiven, settingsGiven } from "./Load.ts"

const reveal = (secret: Redacted.Redacted | null | undefined) =>
  secret === null || secret === undefined ? null : Redacted.value(secret)

const provider = { id: "acme", protocol: "openai-chat", baseUrl: "http://127.0.0.1:9001/v1" }

describe("the environment", () => {
  it.effect("may be empty: a gateway on loopback with an embedded database and simulated providers", () =>
    Effect.gen(function* () {
      const settings = yield* settingsGiven({})
      expect(settings).toMatchObject({
        host: "127.0.0.1",
        port: 8080,
        dataDirectory: ".data",
        databaseUrl: null,
        bootstrap: { key: null, creditMicroUsd: 25_000_000, given: [] },
        workers: 1,
        metricsToken: null,
        logLevel: LogLevel.Info,
        bedrock: null,
        simulated: true,
        providers: []
      })
      expect(Duration.toSeconds(settings.drainGrace)).toBe(600)
      expect(Duration.toSeconds(settings.drainDelay)).toBe(0)
      expect(settings.poolSize).toBe(10)
      expect(settings.vendorKeys.size).toBe(0)
    })
  )

  it.effect("a delay before draining is the default only where balancers can reach the service", () =>
    Effect.gen(function* () {
      for (const [host, seconds] of [
        ["127.0.0.2", 0],
        ["::1", 0],
        ["localhost", 0],
        ["0.0.0.0", 5],
        ["gateway.internal", 5]
      ] as const) {
        const settings = yield* settingsGiven({ env: { HOST: host } })
        expect([host, Duration.toSeconds(settings.drainDelay)]).toEqual([host, seconds])
      }
      for (const [given, seconds] of [
        ["0", 0],
        ["1500ms", 1.5],
        ["10s", 10],
        ["2m", 120],
        ["1 hour", 3_600]
      ] as const) {
        const { drainDelay } = yield* settingsGiven({ env: { HOST: "::", DRAIN_DELAY: given } })
        expect([given, Duration.toSeconds(drainDelay)]).toEqual([given, seconds])
      }
    })
  )

  it.effect("the proxies that are trusted are none by default, else addresses and networks", () =>
    Effect.gen(function* () {
      expect((yield* settingsGiven({})).trustedProxies).toEqual([])
      const { trustedProxies } = yield* settingsGiven({
        env: { TRUSTED_PROXIES: "10.0.0.0/8,192.0.2.10 2001:db8::/32 , ::1" }
      })
      expect(trustedProxies.map(networkText)).toEqual(["10.0.0.0/8", "192.0.2.10/32", "2001:db8::/32", "::1/128"])
      for (const [given, entry] of [
        ["balancer.example.com", 1],
        ["10.0.0.0/8,10.0.0.0/33", 2],
        ["10.0.0.0/8; 10.1.0.0/16", 1],
        ["10.0.0.0/8,true", 2]
      ] as const) {
        expect(yield* issuesGiven({ env: { TRUSTED_PROXIES: given } })).toEqual([
          `TRUSTED_PROXIES: must be a list of IP addresses and networks, such as 10.0.0.0/8,192.0.2.10; its entry ${entry} is neither`
        ])
      }
    })
  )

  it.effect("the connections of all workers together stay few, and a pool size needs PostgreSQL", () =>
    Effect.gen(function* () {
      const url = "postgres://user:word@db:5432/gateway"
      for (const [workers, size] of [
        [1, 10],
        [2, 10],
        [4, 7],
        [16, 4]
      ]) {
        const settings = yield* settingsGiven({ env: { WORKERS: String(workers), DATABASE_URL: url } })
        expect([workers, settings.poolSize]).toEqual([workers, size])
      }
      expect(yield* issuesGiven({ env: { DATABASE_URL: url, DATABASE_POOL_SIZE: "1" } })).toEqual([
        "DATABASE_POOL_SIZE: must be a whole number from 2 to 1000: a statement of the ledger can hold two"
      ])
      expect(yield* issuesGiven({ env: { DATABASE_POOL_SIZE: "20" } })).toEqual([
        "DATABASE_URL: is required with DATABASE_POOL_SIZE"
      ])
    })
  )

  it.effect("is decoded whole", () =>
    Effect.gen(function* () {
      const settings = yield* settingsGiven({
        env: {
          HOST: "0.0.0.0",
          PORT: "0",
          DATA_DIR: "/var/lib/gateway",
          DATABASE_URL: "postgres://user:word@db:5432/gateway",
          GATEWAY_BOOTSTRAP_KEY: "mrg_sk_good",
          GATEWAY_BOOTSTRAP_CREDIT_MICROUSD: "0",
          WORKERS: "4",
          DRAIN_GRACE: "90 seconds",
          DRAIN_DELAY: "7 seconds",
          DATABASE_POOL_SIZE: "25",
          METRICS_TOKEN: "metrics",
          LOG_LEVEL: "Debug",
          OPENAI_API_KEY: "openai-key"
        }
      })
      expect(settings).toMatchObject({
        host: "0.0.0.0",
        port: 0,
        dataDirectory: "/var/lib/gateway",
        bootstrap: { creditMicroUsd: 0, given: ["GATEWAY_BOOTSTRAP_KEY", "GATEWAY_BOOTSTRAP_CREDIT_MICROUSD"] },
        workers: 4,
        logLevel: LogLevel.Debug,
        simulated: false
      })
      expect(Duration.toSeconds(settings.drainGrace)).toBe(90)
      expect(Duration.toSeconds(settings.drainDelay)).toBe(7)
      expect(settings.poolSize).toBe(25)
      expect(reveal(settings.databaseUrl)).toBe("postgres://user:word@db:5432/gateway")
      expect(reveal(settings.bootstrap.key)).toBe("mrg_sk_good")
      expect(reveal(settings.metricsToken)).toBe("metrics")
      expect(reveal(settings.vendorKeys.get("openai"))).toBe("openai-key")
    })
  )

  it.effect("names a collector, with decoded headers", () =>
    Effect.gen(function* () {
      expect((yield* settingsGiven({})).otlp).toBe(null)
      const { otlp } = yield* settingsGiven({
        env: {
          OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/",
          OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Bearer%20word,x-team=a=b"
        }
      })
      expect([otlp?.endpoint, otlp?.serviceName]).toEqual(["http://collector:4318", "model-routing-gateway"])
      expect(otlp?.headers.map(([name, value]) => [name, reveal(value)])).toEqual([
        ["authorization", "Bearer word"],
        ["x-team", "a=b"]
      ])
    })
  )

  it.effect.each<readonly [name: string, value: string, message: string]>([
    ["OTEL_EXPORTER_OTLP_HEADERS", "name", "must have the form name=value,name=value, with values encoded as in URLs"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "a=%zz", "must have the form name=value,name=value, with values encoded as in URLs"],
    [
      "OTEL_EXPORTER_OTLP_HEADERS",
      "a=%0d%0ab:c",
      "must have the form name=value,name=value, with values encoded as in URLs"
    ],
    [
      "OTEL_EXPORTER_OTLP_ENDPOINT",
      "collector:4318",
      "must be an http or https URL without a query, such as https://gateway.example.com"
    ]
  ])("of a collector are refused: %s=%s", ([name, value, message]) =>
    Effect.gen(function* () {
      const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" }
      expect(yield* issuesGiven({ env: { ...endpoint, [name]: value } })).toEqual([`${name}: ${message}`])
    })
  )

  it.effect("of a collector are nothing without its address", () =>
    Effect.gen(function* () {
      for (const name of ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_SERVICE_NAME"]) {
        expect(yield* issuesGiven({ env: { [name]: "a=b" } })).toEqual([
          `OTEL_EXPORTER_OTLP_ENDPOINT: is required with ${name}`
        ])
      }
    })
  )

  it.effect("names the identity provider, whose audience is the client where none is set", () =>
    Effect.gen(function* () {
      expect((yield* settingsGiven({})).oidc).toBe(null)
      const least = { OIDC_ISSUER: "https://login.example.com/tenant/", OIDC_CLIENT_ID: "the client" }
      expect((yield* settingsGiven({ env: least })).oidc).toEqual({
        issuer: "https://login.example.com/tenant/",
        clientId: "the client",
        audience: "the client",
        clientSecret: null,
        operator: null
      })
      const { oidc } = yield* settingsGiven({
        env: {
          ...least,
          OIDC_AUDIENCE: "the-api",
          OIDC_CLIENT_SECRET: "secret",
          OIDC_OPERATOR: "https://example.com/roles=a=b"
        }
      })
      expect(oidc).toMatchObject({
        audience: "the-api",
        operator: { claim: "https://example.com/roles", value: "a=b" }
      })
      expect(reveal(oidc?.clientSecret)).toBe("secret")
    })
  )

  it.effect("has no half of an identity provider, and none without https", () =>
    Effect.gen(function* () {
      expect(yield* issuesGiven({ env: { OIDC_ISSUER: "https://login.example.com" } })).toEqual([
        "OIDC_CLIENT_ID: is required with OIDC_ISSUER"
      ])
      const alone = {
        OIDC_CLIENT_ID: "c",
        OIDC_AUDIENCE: "a",
        OIDC_CLIENT_SECRET: "s",
        OIDC_OPERATOR: "groups=operators"
      }
      for (const [name, value] of Object.entries(alone)) {
        expect(yield* issuesGiven({ env: { [name]: value } })).toEqual([`OIDC_ISSUER: is required with ${name}`])
      }
      const issuesOf = (env: Readonly<Record<string, string>>) =>
        issuesGiven({ env: { OIDC_CLIENT_ID: "c", OIDC_ISSUER: "https://login.example.com", ...env } })
      for (const issuer of [
        "http://login.example.com",
        "http://127.example.com",
        "https://a:b@c",
        "https://c?d=e",
        "https://c#d",
        "ftp://c",
        "c"
      ]) {
        expect([issuer, (yield* issuesOf({ OIDC_ISSUER: issuer })).length]).toEqual([issuer, 1])
      }
      for (const issuer of ["http://127.0.0.1:9000", "http://localhost:9000/a", "http://[::1]:9000"]) {
        expect(yield* issuesOf({ OIDC_ISSUER: issuer })).toEqual([])
      }
      for (const operator of ["groups", "groups=", "=operators"]) {
        expect([operator, (yield* issuesOf({ OIDC_OPERATOR: operator })).length]).toEqual([operator, 1])
      }
    })
  )

  it.effect("names the base of links and the master keys", () =>
    Effect.gen(function* () {
      const [current, previous] = ["a", "b"].map((letter) => letter.repeat(44)) as [string, string]
      const settings = yield* settingsGiven({
        env: {
          PUBLIC_URL: "https://gateway.example.com/base/",
          GATEWAY_MASTER_KEY: current,
          GATEWAY_MASTER_KEY_PREVIOUS: previous
        }
      })
      expect(settings.publicUrl).toBe("https://gateway.example.com/base")
      expect([settings.masterKey.current, settings.masterKey.previous].map(reveal)).toEqual([current, previous])
      expect(yield* settingsGiven({})).toMatchObject({ publicUrl: null, masterKey: { current: null, previous: null } })
      expect(yield* issuesGiven({ env: { GATEWAY_MASTER_KEY_PREVIOUS: previous } })).toEqual([
        "GATEWAY_MASTER_KEY: is required with GATEWAY_MASTER_KEY_PREVIOUS"
      ])
      for (const env of [
        { GATEWAY_MASTER_KEY: "short" },
        { PUBLIC_URL: "gateway.example.com" },
        { PUBLIC_URL: "https://a?b" }
      ]) {
        expect([env, (yield* issuesGiven({ env })).length]).toEqual([env, 1])
      }
    })
  )

  it.effect("takes the first of a vendor's names that is set", () =>
    Effect.gen(function* () {
      const both = yield* settingsGiven({ env: { GOOGLE_API_KEY: "second", GEMINI_API_KEY: "first" } })
      expect(reveal(both.vendorKeys.get("google"))).toBe("first")
      const other = yield* settingsGiven({ env: { GOOGLE_API_KEY: "second" } })
      expect(reveal(other.vendorKeys.get("google"))).toBe("second")
      expect(other.vendorKeys.has("openai")).toBe(false)
    })
  )

  it.effect("takes the empty string for not set, whatever the variable", () =>
    Effect.gen(function* () {
      const { knownVariables, ...empty } = yield* settingsGiven({})
      const env = Object.fromEntries([...knownVariables, "AWS_ACCESS_KEY_ID"].map((name) => [name, ""]))
      expect(knownVariables).toContain("OPENAI_API_KEY")
      expect({ ...(yield* settingsGiven({ env })), knownVariables: undefined }).toEqual({
        ...empty,
        knownVariables: undefined
      })
    })
  )

  it.effect.each([
    ["1d", 86_400],
    ["29d 4h", 2_520_000],
    ["1d12h", 129_600],
    ["1m 30s 250ms", 90.25],
    ["2 days", 172_800],
    ["0", 0]
  ] as const)("DRAIN_GRACE may be %s, and is read as it is printed", ([text, seconds]) =>
    Effect.gen(function* () {
      const { drainGrace } = yield* settingsGiven({ env: { DRAIN_GRACE: text } })
      expect(Duration.toSeconds(drainGrace)).toBe(seconds)
      const printed = yield* settingsGiven({ env: { DRAIN_GRACE: Duration.format(drainGrace) } })
      expect(Duration.toSeconds(printed.drainGrace)).toBe(seconds)
    })
  )

  it.effect.each<readonly [string, string, string]>([
    ["PORT", "65536", "must be a whole number from 0 to 65535"],
    ["PORT", "-1", "must be a whole number from 0 to 65535"],
    ["PORT", "80a", "must be a whole number from 0 to 65535"],
    ["PORT", "1e3", "must be a whole number from 0 to 65535"],
    ["WORKERS", "0", "must be a whole number from 1 to 256"],
    ["WORKERS", "1.5", "must be a whole number from 1 to 256"],
    ["GATEWAY_BOOTSTRAP_CREDIT_MICROUSD", "9007199254740993", "must be a whole number from 0 to 9007199254740991"],
    ["DRAIN_GRACE", "10", 'must be a duration such as "600 seconds", "10m" or "1d 12h"'],
    ["DRAIN_DELAY", "soon", 'must be a duration such as "600 seconds", "10m" or "1d 12h"'],
    ["DRAIN_GRACE", "soon", 'must be a duration such as "600 seconds", "10m" or "1d 12h"'],
    ["DRAIN_GRACE", "Infinity", 'must be a duration such as "600 seconds", "10m" or "1d 12h"'],
    ["DRAIN_GRACE", "-5 seconds", 'must be a duration such as "600 seconds", "10m" or "1d 12h"'],
    ["DRAIN_GRACE", "1d 12", 'must be a duration such as "600 seconds", "10m" or "1d 12h"'],
    ["DRAIN_DELAY", "-1 millis", 'must be a duration such as "600 seconds", "10m" or "1d 12h"'],
    ["LOG_LEVEL", "loud", "must be one of all, trace, debug, info, warning, warn, error, fatal, none, off"],
    ["LOG_LEVEL", "__proto__", "must be one of all, trace, debug, info, warning, warn, error, fatal, none, off"],
    ["SIMULATED_PROVIDERS", "maybe", "must be one of on, off"],
    ["DATABASE_URL", "mysql://host", "must be a URL of the form postgres://user:password@host:port/database"],
    [
      "DATABASE_URL",
      "postgres://host:port/database",
      "must be a URL of the form postgres://user:password@host:port/database"
    ],
    [
      "GATEWAY_BOOTSTRAP_KEY",
      "sk-other",
      "must be an API key of the form mrg_sk_… with a right checksum, such as `keys mint` prints"
    ],
    ["BEDROCK_REGION", "https://evil", "must be a region such as us-east-1"],
    ...["a\nb", "two words", "http://127.0.0.1", "127.0.0.1:8080", "[::1]", "256.1.1.1", "host/path", "*"].map(
      (value) => ["HOST", value, "must be an IP address or a host name, such as 127.0.0.1"] as const
    ),
    ...["METRICS_TOKEN", "OPENAI_API_KEY", "DATABASE_URL", "AWS_BEARER_TOKEN_BEDROCK"].flatMap((name) =>
      [" ", "two words", "line\r\nbreak", "ключ"].map(
        (value) => [name, value, "must hold visible ASCII characters only, without spaces"] as const
      )
    )
  ])("refuses %s", ([name, value, message]) =>
    Effect.gen(function* () {
      const aws = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" }
      const path = name === "OPENAI_API_KEY" ? "OPENAI_API_KEY" : name
      expect(yield* issuesGiven({ env: { ...aws, [name]: value } })).toEqual([`${path}: ${message}`])
    })
  )

  it.effect.each(["::1", "0.0.0.0", "fe80::1%eth0", "localhost", "gateway_1.internal", "node-1"])(
    "listens on %s",
    (HOST) =>
      Effect.gen(function* () {
        expect((yield* settingsGiven({ env: { HOST } })).host).toBe(HOST)
      })
  )

  it("takes no name for a loopback address because it begins like one", () => {
    expect(["127.0.0.1", "127.8.8.8", "::1", "localhost"].map(isLoopbackAddress)).toEqual([true, true, true, true])
    expect(["127.example.com", "0.0.0.0", "::", "localhost.example.com"].map(isLoopbackAddress)).toEqual([
      false,
      false,
      false,
      false
    ])
  })

  it.effect("refuses halves of what belongs together", () =>
    Effect.gen(function* () {
      const env = {
        BEDROCK_REGION: "us-east-1",
        AWS_ACCESS_KEY_ID: "id"
      }
      expect(yield* issuesGiven({ env })).toEqual([
        "AWS_SECRET_ACCESS_KEY: is required with BEDROCK_REGION without AWS_BEARER_TOKEN_BEDROCK"
      ])
    })
  )
})

describe("the store of images", () => {
  const needed = { S3_BUCKET: "pictures", S3_ACCESS_KEY_ID: "id", S3_SECRET_ACCESS_KEY: "secret" }

  it.effect("is a folder, a bucket of Amazon's, or one of another endpoint; ambient AWS variables are not read", () =>
    Effect.gen(function* () {
      const ambient = { AWS_ACCESS_KEY_ID: "ambient", AWS_SECRET_ACCESS_KEY: "ambient" }
      expect((yield* settingsGiven({ env: ambient })).objectStore).toBeNull()
      expect((yield* settingsGiven({ env: { ...needed, ...ambient } })).objectStore).toEqual({
        endpoint: "https://s3.us-east-1.amazonaws.com",
        region: "us-east-1",
        bucket: "pictures",
        accessKeyId: Redacted.make("id"),
        secretAccessKey: Redacted.make("secret")
      })
      const other = { S3_ENDPOINT: "http://127.0.0.1:9000/", S3_REGION: "eu-west-1" }
      expect((yield* settingsGiven({ env: { ...needed, ...other } })).objectStore).toMatchObject({
        endpoint: "http://127.0.0.1:9000",
        region: "eu-west-1"
      })
    })
  )

  it.effect("is refused where something of it is missing or no name of a bucket", () =>
    Effect.gen(function* () {
      expect(yield* issuesGiven({ env: { S3_BUCKET: "pictures", S3_ACCESS_KEY_ID: "id" } })).toEqual([
        "S3_SECRET_ACCESS_KEY: is required with S3_BUCKET"
      ])
      expect(yield* issuesGiven({ env: { S3_ENDPOINT: "http://127.0.0.1:9000" } })).toEqual([
        "S3_BUCKET: is required with S3_ENDPOINT"
      ])
      for (const name of ["a/b", "Pictures", "..", "ab"]) {
        expect(yield* issuesGiven({ env: { ...needed, S3_BUCKET: name } })).toEqual([
          "S3_BUCKET: must be the name of a bucket: 3 to 63 small letters, digits, dots and hyphens"
        ])
      }
    })
  )
})

describe("Bedrock", () => {
  const ambient = {
    AWS_ACCESS_KEY_ID: "id",
    AWS_SECRET_ACCESS_KEY: "secret",
    AWS_SESSION_TOKEN: "session",
    AWS_REGION: "eu-west-1"
  }

  it.effect("is never switched on by ambient AWS variables", () =>
    Effect.gen(function* () {
      const settings = yield* settingsGiven({ env: ambient })
      expect(settings.bedrock).toBeNull()
      expect(settings.simulated).toBe(true)
    })
  )

  it.effect("takes a bearer token, or its own region and the ambient keys", () =>
    Effect.gen(function* () {
      const bearer = yield* settingsGiven({ env: { ...ambient, AWS_BEARER_TOKEN_BEDROCK: "token" } })
      expect(bearer.bedrock).toEqual({ region: "us-east-1", auth: { _tag: "Bearer", token: Redacted.make("token") } })
      expect(bearer.simulated).toBe(false)
      const signed = yield* settingsGiven({ env: { ...ambient, BEDROCK_REGION: "eu-central-1" } })
      expect(signed.bedrock).toEqual({
        region: "eu-central-1",
        auth: {
          _tag: "Signature",
          accessKeyId: Redacted.make("id"),
          secretAccessKey: Redacted.make("secret"),
          sessionToken: Redacted.make("session")
        }
      })
    })
  )
})

describe("simulated providers", () => {
  const file = { providers: [provider] }
  it.effect.each<readonly [string, object, boolean]>([
    ["with nothing else to route to", {}, true],
    ["with a vendor's key", { env: { OPENAI_API_KEY: "k" } }, false],
    ["with a configured provider", { file }, false],
    ["with a file that configures no provider", { file: { headHoldMillis: 1 } }, true],
    ["asked for beside a vendor's key", { env: { OPENAI_API_KEY: "k", SIMULATED_PROVIDERS: "on" } }, true],
    ["asked for beside a configured provider", { file, env: { SIMULATED_PROVIDERS: "ON" } }, true],
    ["refused with nothing else to route to", { env: { SIMULATED_PROVIDERS: "off" } }, false]
  ])("%s", ([, given, simulated]) =>
    Effect.gen(function* () {
      expect((yield* settingsGiven(given)).simulated).toBe(simulated)
    })
  )
})

describe("the file that GATEWAY_CONFIG names", () => {
  it.effect("must exist, when one is named", () =>
    Effect.gen(function* () {
      expect(yield* issuesGiven({ env: { GATEWAY_CONFIG: "nowhere.json", PORT: "x" } })).toEqual([
        "PORT: must be a whole number from 0 to 65535",
        "GATEWAY_CONFIG: names a file that does not exist"
      ])
    })
  )

  it.effect("is named by what is wrong in it", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(loadGiven({ file: "{" }))
      expect(failure).toMatchObject({ _tag: "InvalidConfiguration", file: "gateway.json" })
    })
  )

  it.effect("may start with a byte order mark", () =>
    Effect.gen(function* () {
      expect((yield* settingsGiven({ file: '\uFEFF{"headHoldMillis": 7}' })).headHoldMillis).toBe(7)
    })
  )

  it.effect.each<readonly [string, string]>([
    ["", "(the file): is not valid JSON at line 1, column 1: a value is expected"],
    ["{", "(the file): is not valid JSON at line 1, column 2: a string in double quotes is expected"],
    [
      '{\n  "models": {\n    "a/b": nul\n',
      'models["a/b"]: is not valid JSON at line 3, column 12: a value is expected'
    ],
    [
      '{"providers": [{"id": "a",}]}',
      "providers[0]: is not valid JSON at line 1, column 27: a string in double quotes is expected"
    ],
    ['{"providers": [1 2]}', "providers: is not valid JSON at line 1, column 18: ',' or ']' is expected"],
    ['{"headHoldMillis" 1}', "headHoldMillis: is not valid JSON at line 1, column 19: ':' is expected"],
    ['{"a": "x\ny"}', "a: is not valid JSON at line 1, column 7: a string in double quotes is expected"],
    ["{} // done", "(the file): is not valid JSON at line 1, column 4: there is more after the end of the JSON value"],
    ['{"headHoldMillis": 1, "headHoldMillis": 2}', "headHoldMillis: is given twice"]
  ])("is told where it is no JSON: %j", ([file, issue]) =>
    Effect.gen(function* () {
      expect(yield* issuesGiven({ file })).toEqual([issue])
    })
  )

  it.effect("is bounded in depth", () =>
    Effect.gen(function* () {
      const [issue] = yield* issuesGiven({ file: "[".repeat(100_000) })
      expect(issue).toContain("is nested deeper than 64 levels")
    })
  )

  it.effect("is JSON exactly when JSON.parse takes it", () =>
    Effect.gen(function* () {
      const { parseJson } = yield* Effect.promise(() => import("../../src/config/JsonText.ts"))
      const isJson = (text: string) => {
        try {
          JSON.parse(text)
          return true
        } catch {
          return false
        }
      }
      const broken = FastCheck.tuple(
        FastCheck.json(),
        FastCheck.nat(),
        FastCheck.constantFrom("", ",", "}", '"', "\\", "-", "0", "\n", "e")
      ).map(
        ([text, at, piece]) => text.slice(0, at % (text.length + 1)) + piece + text.slice((at % (text.length + 1)) + 1)
      )
      FastCheck.assert(
        FastCheck.property(FastCheck.oneof(FastCheck.json(), broken), (text) => {
          const parsed = parseJson(text)
          if (parsed._tag === "Left" && parsed.left.every((issue) => issue.message === "is given twice")) return
          expect([text, parsed._tag]).toEqual([text, isJson(text) ? "Right" : "Left"])
          if (parsed._tag === "Right") expect(parsed.right).toEqual(JSON.parse(text))
        }),
        { numRuns: 2000 }
      )
    })
  )
})

describe("secrets", () => {
  const canary = (name: string) => `canary-${name}-8f2c`

  it.effect("are never printed, neither from settings nor from any issue", () =>
    Effect.gen(function* () {
      const names = [
        "DATABASE_URL",
        "GATEWAY_BOOTSTRAP_KEY",
        "METRICS_TOKEN",
        "OPENAI_API_KEY",
        "AWS_BEARER_TOKEN_BEDROCK",
        "PORT",
        "WORKERS",
        "LOG_LEVEL",
        "DRAIN_GRACE",
        "DRAIN_DELAY",
        "DATABASE_POOL_SIZE"
      ]
      const env = Object.fromEntries(names.map((name) => [name, `${canary(name)} `]))
      const file = {
        apiKey: canary("top"),
        providers: [
          {
            ...provider,
            protocol: canary("protocol"),
            apiKey: canary("key"),
            apiKeyEnv: canary("env"),
            baseUrl: `http://user:${canary("url")}@host/v1`,
            outputCapField: canary("field"),
            models: [{ id: canary("id"), quality: canary("quality"), capabilities: [canary("capability")] }]
          },
          { id: canary("provider"), vendor: canary("vendor"), apiKeyEnv: "CANARY_8F2C_UNSET" },
          canary("entry")
        ],
        models: { "openai/gpt-5": canary("patch") },
        policy: canary("policy"),
        routingConfigurations: [{ slug: canary("slug").toUpperCase(), alpha: canary("alpha") }],
        timeouts: canary("timeouts"),
        headHoldMillis: canary("hold")
      }
      const issues = yield* issuesGiven({ env, file })
      expect(issues.length).toBeGreaterThan(25)
      expect(issues.join("\n")).not.toMatch(/canary|8f2c/i)
      const broken = yield* issuesGiven({ file: `{"apiKey": "${canary("text")}" "${canary("more")}"}` })
      expect(broken).toHaveLength(1)
      expect(broken.join("\n")).not.toMatch(/canary/i)
      const failure = yield* Effect.flip(loadGiven({ env, file }))
      expect(`${failure} ${JSON.stringify(failure)} ${failure.stack ?? ""}`).not.toMatch(/canary-|8f2c/i)
    })
  )

  it.effect("stay hidden in settings that are printed whole", () =>
    Effect.gen(function* () {
      const env = {
        DATABASE_URL: `postgres://u:${canary("db")}@host/db`,
        GATEWAY_BOOTSTRAP_KEY: `mrg_sk_${canary("bootstrap")}`,
        METRICS_TOKEN: canary("metrics"),
        OPENAI_API_KEY: canary("openai"),
        AWS_BEARER_TOKEN_BEDROCK: canary("bedrock"),
        ACME_KEY: canary("acme")
      }
      const settings = yield* settingsGiven({ env, file: { providers: [{ ...provider, apiKeyEnv: "ACME_KEY" }] } })
      expect(reveal(settings.providers[0]?.apiKey)).toBe(canary("acme"))
      const printed = `${JSON.stringify(settings)} ${JSON.stringify([...settings.vendorKeys])}`
      expect(printed).not.toContain("canary")
    })
  )
})

describe("the proxies", () => {
  it.effect("are none by default", () =>
    Effect.map(settingsGiven({}), ({ proxy }) => expect(proxy).toEqual({ https: null, http: null, noProxy: null }))
  )

  it.effect("are taken in capital and in small letters, which come first, and without a scheme", () =>
    Effect.gen(function* () {
      const { proxy } = yield* settingsGiven({
        env: {
          HTTPS_PROXY: "http://capital.test:3128",
          https_proxy: "http://me:word@small.test:3128/",
          HTTP_PROXY: "plain.test:8080",
          NO_PROXY: "internal.test, 10.0.0.0/8"
        }
      })
      expect([reveal(proxy.https), reveal(proxy.http), proxy.noProxy]).toEqual([
        "http://me:word@small.test:3128/",
        "http://plain.test:8080",
        "internal.test, 10.0.0.0/8"
      ])
    })
  )

  it.effect.each([
    "socks5://proxy.test:1080",
    "http://proxy.test:3128/path",
    "http://proxy.test:99999",
    "http://me:%zz@proxy.test",
    "http://",
    "proxy",
    "me:word@proxy.test"
  ])("%s is an issue, which does not repeat it", (text) =>
    Effect.map(issuesGiven({ env: { HTTPS_PROXY: text } }), (issues) =>
      expect(issues).toEqual(["HTTPS_PROXY: must be the URL of an HTTP proxy, such as http://proxy.example.com:3128"])
    )
  )
})
