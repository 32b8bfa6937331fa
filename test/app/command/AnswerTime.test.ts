import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { expect, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { Operations } from "../../../src/app/command/Operations.ts"
import { layer } from "../../../src/app/command/ServiceOperations.ts"
import { loadOptions } from "../../../src/app/LoadOptions.ts"
import { run } from "../../../src/app/SignInCommand.ts"
import * as Settings from "../../../src/config/Settings.ts"
import { IdGenerator } from "../../../src/domain/IdGenerator.ts"
import { Timers } from "../../../src/domain/Timers.ts"
import { masterKey } from "../../support/Service.ts"

/** A service that hangs. */
const hanging = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer()
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return server
  }),
  (server) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
)

const defaults = (settings: Settings.Settings) =>
  Effect.flatMap(Operations, (operations) => operations.defaults).pipe(
    Effect.provide(layer(settings)),
    Effect.provide(IdGenerator.layer),
    Effect.provide(Timers.layer)
  )

it.scoped.each([
  { command: "for a sign-in link", program: run },
  { command: "at the service that has the database open", program: defaults }
])("a command $command gives a service up that hangs, and says so", ({ program }) =>
  Effect.gen(function* () {
    const server = yield* hanging
    const { port } = server.address() as AddressInfo
    const asked = once(server, "request")
    const failed = yield* Settings.load(loadOptions).pipe(
      Effect.flatMap((settings): Effect.Effect<unknown, { readonly message: string }> => program(settings)),
      Effect.flip,
      Effect.withConfigProvider(
        ConfigProvider.fromMap(new Map(Object.entries({ PORT: `${port}`, GATEWAY_MASTER_KEY: masterKey })))
      ),
      Effect.provide(NodeFileSystem.layer),
      Effect.fork
    )
    yield* Effect.promise(() => asked)
    yield* TestClock.adjust("29 seconds")
    expect(yield* Fiber.poll(failed)).toMatchObject({ _tag: "None" })
    yield* TestClock.adjust("1 second")
    const { message } = yield* Fiber.join(failed)
    expect(message).toBe(
      `the service at http://127.0.0.1:${port} has not answered within 30 seconds; it may still do what it was asked for.`
    )
  })
)
