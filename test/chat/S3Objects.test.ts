import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { Objects, type ObjectsShape } from "../../src/chat/Objects.ts"
import * as S3Objects from "../../src/chat/S3Objects.ts"
import { StoreUnavailable } from "../../src/domain/GatewayError.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { startS3 } from "../support/S3Server.ts"

const id = "0198a000-0000-7000-8000-00000000000a"

describe("objects in a bucket", () => {
  let s3: Awaited<ReturnType<typeof startS3>>
  const lines: Array<string> = []
  const runtimes: Array<{ readonly dispose: () => Promise<void> }> = []
  beforeAll(async () => {
    s3 = await startS3()
  })
  afterAll(() => s3.stop())
  afterEach(async () => {
    for (const runtime of runtimes.splice(0)) await runtime.dispose()
    lines.length = 0
    s3.seen.length = 0
    s3.failures.length = 0
  })

  const open = (changed: Partial<S3Objects.S3Options> & { readonly secret?: string } = {}) => {
    const { secret = s3.secretAccessKey, ...others } = changed
    const options = {
      endpoint: s3.endpoint,
      region: s3.region,
      bucket: s3.bucket,
      accessKeyId: Redacted.make(s3.accessKeyId),
      secretAccessKey: Redacted.make(secret),
      ...others
    }
    const log = Logger.make(({ annotations, message }) => {
      lines.push(`${String(message)} ${JSON.stringify(Object.fromEntries(annotations))}`)
    })
    const runtime = ManagedRuntime.make(
      S3Objects.layer(options).pipe(
        Layer.provide(NodeHttpClient.layerUndici),
        Layer.provide(Timers.layer),
        Layer.provide(Logger.replace(Logger.defaultLogger, log))
      )
    )
    runtimes.push(runtime)
    return <A, E>(use: (objects: ObjectsShape) => Effect.Effect<A, E>) =>
      runtime.runPromise(Effect.either(Effect.flatMap(Objects, use)))
  }

  it("are written, read and removed by signed requests", async () => {
    const run = open()
    const bytes = Buffer.from([0, 255, 13, 10, 60])
    expect(await run((objects) => objects.get(id))).toMatchObject({ right: undefined })
    await run((objects) => objects.put(id, bytes))
    expect(s3.objects.get(`/pictures/images/${id}`)?.equals(bytes)).toBe(true)
    const read = await run((objects) => objects.get(id))
    expect(read).toMatchObject({ _tag: "Right", right: new Uint8Array(bytes) })
    await run((objects) => objects.remove(id))
    // again is no error
    expect(await run((objects) => objects.remove(id))).toMatchObject({ _tag: "Right" })
    expect(s3.objects.has(`/pictures/images/${id}`)).toBe(false)
    expect(s3.seen.length).toBeGreaterThanOrEqual(5)
    expect(s3.seen.filter((line) => !line.endsWith(" signed"))).toEqual([])
  })

  it("are asked for again when the store fails in passing, and then given up", async () => {
    const run = open()
    await run((objects) => objects.get(id))
    // and the object that is tried at start
    await expect.poll(() => s3.seen.length).toBe(4)
    s3.failures.push(503, 500)
    expect(await run((objects) => objects.put(id, new Uint8Array(3)))).toMatchObject({ _tag: "Right" })
    expect(s3.seen.slice(4)).toHaveLength(3)
    s3.failures.push(503, 500, 503)
    const failed = await run((objects) => objects.get(id))
    expect(failed).toMatchObject({ _tag: "Left", left: { cause: { operation: "GET", status: 503 } } })
    expect(lines).toEqual([])
  })

  it.each([
    ["a wrong secret", { secret: "other" }, { status: 403, code: "SignatureDoesNotMatch" }],
    ["a wrong region", { region: "us-east-1" }, { status: 403, code: "AuthorizationHeaderMalformed" }],
    ["a bucket that is not there", { bucket: "nowhere" }, { status: 404, code: "NoSuchBucket" }]
  ] as const)("fail with %s, which the log says at start", async (_, changed, answer) => {
    const run = open(changed)
    for (const use of [
      (objects: ObjectsShape) => Effect.asVoid(objects.get(id)),
      (objects: ObjectsShape) => objects.put(id, new Uint8Array(1)),
      (objects: ObjectsShape) => objects.remove(id)
    ]) {
      const result = await run(use)
      if (result._tag === "Right") throw new Error("it has to fail")
      expect(result.left).toBeInstanceOf(StoreUnavailable)
      expect(result.left.message).toBe("The gateway cannot use its store of images now.")
      expect(result.left.cause).toMatchObject(answer)
    }
    await expect.poll(() => lines).toHaveLength(1)
    expect(lines[0]).toContain("the object store refuses its credential or bucket")
    expect(lines[0]).toContain(`"code":"${answer.code}"`)
    expect(lines[0]).not.toContain(s3.secretAccessKey)
  })

  it("fail while nothing listens there, which the log says at start", async () => {
    const gone = await startS3()
    await gone.stop()
    const run = open({ endpoint: gone.endpoint })
    expect(await run((objects) => objects.get(id))).toMatchObject({ _tag: "Left", left: { cause: { status: null } } })
    await expect.poll(() => lines).toHaveLength(1)
    expect(lines[0]).toContain("the object store is not reachable")
    expect(lines[0]).toContain('"detail":"connect ECONNREFUSED')
  })
})
