import { createHmac, randomUUID } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, it, layer } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { AlertDelivery, retryAfterSeconds } from "../../src/account/alerts/AlertDelivery.ts"
import { AlertStore } from "../../src/account/alerts/AlertStore.ts"
import { resealWebhooks } from "../../src/account/alerts/ResealWebhooks.ts"
import { WebhookSecrets } from "../../src/account/alerts/WebhookSecrets.ts"
import { MasterKey } from "../../src/credentials/MasterKey.ts"
import type { StoreUnavailable } from "../../src/domain/GatewayError.ts"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { AccountId, KeyId, ProjectId } from "../../src/domain/Ids.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { Egress } from "../../src/egress/Egress.ts"
import { AccountSql } from "../../src/sql/AccountDatabase.ts"
import { AlertNotification, type AlertThreshold } from "../../src/wire/account/Alerts.ts"
import { databases } from "../ledger/databases.ts"
import { masterKey } from "../support/Service.ts"
import { logCalls } from "./calls.ts"

const services = AlertDelivery.layer.pipe(
  Layer.provideMerge(AlertStore.layer),
  Layer.provideMerge(WebhookSecrets.layer),
  Layer.provideMerge(Egress.layer({ allowLoopback: true })),
  Layer.provide(MasterKey.layer({ current: Redacted.make(masterKey), previous: null, directory: null })),
  Layer.provideMerge(IdGenerator.layer.pipe(Layer.provide(Timers.layer)))
)

const withKeys = (current: string | null, previous: string | null = null) =>
  WebhookSecrets.layer.pipe(
    Layer.provide(
      MasterKey.layer({
        current: current === null ? null : Redacted.make(current),
        previous: previous === null ? null : Redacted.make(previous),
        directory: null
      })
    )
  )
const other = Buffer.alloc(32, 8).toString("base64")

/** A Wednesday. */
const wednesday = Date.UTC(2100, 2, 17, 12)
const hour = 3_600_000
const day = 24 * hour

const at = (millis: number) =>
  Effect.withClock(
    Object.assign(Object.create(Clock.make()) as Clock.Clock, {
      currentTimeMillis: Effect.succeed(millis),
      unsafeCurrentTimeMillis: () => millis
    })
  )
const evaluateAt = (millis: number) => at(millis)(Effect.flatMap(AlertDelivery, ({ evaluate }) => evaluate))
const deliverAt = (millis: number) => at(millis)(Effect.flatMap(AlertDelivery, ({ deliver }) => deliver))

const aProject = (limitMicroUsd: number | null = null) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const [userId, accountId, projectId] = [randomUUID(), randomUUID(), randomUUID()]
    yield* sql`insert into app_user (id, name) values (${userId}, 'someone')`
    yield* sql`insert into account (id, user_id) values (${accountId}, ${userId})`
    yield* sql`insert into project (id, account_id, name, is_default) values (${projectId}, ${accountId}, 'watched', false)`
    yield* sql`insert into scope (id, kind, limit_micro_usd) values (${projectId}, 'project', ${limitMicroUsd})`
    return {
      accountId: AccountId.make(accountId),
      projectId: ProjectId.make(projectId),
      keyId: KeyId.make(randomUUID())
    }
  })
type Owner = Effect.Effect.Success<ReturnType<typeof aProject>>

const spend = (caller: Owner, millis: number, costMicroUsd: number) =>
  logCalls([{ caller, agoSeconds: Math.round((Date.now() - millis) / 1_000), costMicroUsd }])

const setScope = ({ projectId }: Owner, spent: number, limit: number | null) =>
  Effect.flatMap(
    SqlClient,
    (sql) => sql`update scope set spent_micro_usd = ${spent}, limit_micro_usd = ${limit} where id = ${projectId}`
  )

const watch = ({ projectId }: Owner, thresholds: ReadonlyArray<AlertThreshold>, url?: string) =>
  Effect.gen(function* () {
    const { sealed, secret } = yield* (yield* WebhookSecrets).make(projectId)
    const webhook = url === undefined ? null : { url, sealedSecret: sealed }
    yield* (yield* AlertStore).write(projectId, { webhook, thresholds })
    return Redacted.value(secret)
  })

const eventsOf = ({ projectId }: Owner) => Effect.flatMap(AlertStore, (store) => store.events(projectId, 100))
/** The amounts and percents that were reached, in order of size. */
const reachedBy = (owner: Owner) =>
  Effect.map(eventsOf(owner), (events) =>
    events
      .map(({ threshold }) => (threshold.type === "spend" ? threshold.amount_microusd : threshold.percent))
      .sort((one, other) => one - other)
  )

const per = (period: "day" | "week" | "month", amount_microusd: number): AlertThreshold => ({
  type: "spend",
  amount_microusd,
  period
})
const ofLimit = (percent: number): AlertThreshold => ({ type: "limit_percent", percent })

interface Received {
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Answers with the statuses, the last one again and again. */
const receiver = (statuses: ReadonlyArray<number>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const received: Array<Received> = []
        const server = createServer((request, response) => {
          let body = ""
          request.setEncoding("utf8")
          request.on("data", (text: string) => {
            body += text
          })
          request.on("end", () => {
            received.push({ path: request.url, headers: request.headers, body })
            const status = statuses[received.length - 1] ?? statuses.at(-1) ?? 200
            response.writeHead(status, status === 302 ? { location: "/elsewhere" } : {}).end()
          })
        }).listen(0, "127.0.0.1")
        await once(server, "listening")
        return { received, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
      }),
      ({ server }) => Effect.sync(() => void server.close())
    ),
    ({ received, url }) => ({ received, url })
  )

for (const [name, database] of databases) {
  describe(`alerts on ${name}`, () => {
    layer(services.pipe(Layer.provideMerge(database)), { timeout: 60_000, excludeTestServices: true })((it) => {
      it.effect("a threshold fires once in its period, and again in the next one", () =>
        Effect.gen(function* () {
          const owner = yield* aProject()
          yield* watch(owner, [per("day", 100), per("week", 250), per("month", 250), per("month", 251)])
          yield* spend(owner, wednesday, 99)
          yield* evaluateAt(wednesday)
          expect(yield* reachedBy(owner)).toEqual([])
          yield* spend(owner, wednesday, 1)
          for (const _ of [1, 2]) yield* evaluateAt(wednesday + 1_000)
          expect(yield* reachedBy(owner)).toEqual([100])
          // Saturday: the day resets, week and month go on
          yield* spend(owner, wednesday + 3 * day, 150)
          for (const _ of [1, 2]) yield* evaluateAt(wednesday + 3 * day)
          expect(yield* reachedBy(owner)).toEqual([100, 100, 250, 250])
          // Monday: the week too
          yield* evaluateAt(Date.UTC(2100, 2, 22))
          yield* spend(owner, wednesday + 5 * day, 99)
          yield* evaluateAt(wednesday + 5 * day)
          expect(yield* reachedBy(owner)).toEqual([100, 100, 250, 250, 251])
          const [newest] = yield* eventsOf(owner)
          expect(newest).toMatchObject({
            periodStart: new Date(Date.UTC(2100, 2, 1)),
            spentMicroUsd: 349,
            limitMicroUsd: null,
            firedAt: new Date(wednesday + 5 * day),
            attempts: 0,
            nextAttemptAt: null,
            deliveredAt: null
          })
        })
      )

      it.effect("what is summed up by day counts with the calls since, of this project only", () =>
        Effect.gen(function* () {
          const [owner, other] = [yield* aProject(), yield* aProject()]
          const sql = yield* SqlClient
          const sums = (date: string, spent: number) => sql`
            insert into activity_day (project_id, day, key_id, provider, model, requests, failures, prompt_tokens,
              completion_tokens, spend_micro_usd)
            values (${owner.projectId}, ${date}::date, ${owner.keyId}, 'sim', 'sim/large', 1, 0, 1, 1, ${spent})`
          yield* sums("2100-02-28", 1_000)
          yield* sums("2100-03-01", 60)
          yield* spend(owner, wednesday, 39)
          yield* spend(other, wednesday, 1_000)
          yield* watch(owner, [per("month", 100)])
          yield* evaluateAt(wednesday)
          expect(yield* reachedBy(owner)).toEqual([])
          yield* spend(owner, wednesday, 1)
          yield* evaluateAt(wednesday)
          expect(yield* eventsOf(owner)).toMatchObject([{ spentMicroUsd: 100 }])
        })
      )

      it.effect("a part of the limit fires once for each limit that is set", () =>
        Effect.gen(function* () {
          const owner = yield* aProject(1_000)
          yield* watch(owner, [ofLimit(80), ofLimit(100)])
          yield* setScope(owner, 799, 1_000)
          yield* evaluateAt(wednesday)
          expect(yield* reachedBy(owner)).toEqual([])
          yield* setScope(owner, 800, 1_000)
          for (const _ of [1, 2]) yield* evaluateAt(wednesday)
          expect(yield* reachedBy(owner)).toEqual([80])
          yield* setScope(owner, 1_000, 1_000)
          for (const month of [0, 1, 2]) yield* evaluateAt(wednesday + month * 31 * day)
          expect(yield* reachedBy(owner)).toEqual([80, 100])
          yield* setScope(owner, 1_700, 2_000)
          yield* evaluateAt(wednesday)
          expect(yield* eventsOf(owner)).toMatchObject([
            { threshold: ofLimit(80), spentMicroUsd: 1_700, limitMicroUsd: 2_000, periodStart: null },
            {},
            {}
          ])
          yield* setScope(owner, 1_700, null)
          yield* evaluateAt(wednesday)
          expect(yield* reachedBy(owner)).toEqual([80, 80, 100])
        })
      )

      it.effect("a percentage of a limit that resets counts from there", () =>
        Effect.gen(function* () {
          const owner = yield* aProject(1_000)
          const sql = yield* SqlClient
          yield* sql`update scope set limit_reset = 'month', spent_micro_usd = 5000 where id = ${owner.projectId}`
          yield* watch(owner, [ofLimit(50)])
          yield* spend(owner, wednesday, 499)
          yield* evaluateAt(wednesday)
          expect(yield* reachedBy(owner)).toEqual([])
          yield* spend(owner, wednesday, 1)
          yield* evaluateAt(wednesday)
          yield* spend(owner, wednesday + 31 * day, 500)
          yield* evaluateAt(wednesday + 31 * day)
          expect(yield* eventsOf(owner)).toMatchObject([
            { periodStart: new Date(Date.UTC(2100, 3, 1)), spentMicroUsd: 500 },
            { periodStart: new Date(Date.UTC(2100, 2, 1)), spentMicroUsd: 500 }
          ])
        })
      )

      it.effect("a threshold that is reached in the last seconds of its period fires after it", () =>
        Effect.gen(function* () {
          const midnight = Date.UTC(2100, 2, 18)
          const owner = yield* aProject()
          yield* watch(owner, [per("day", 100), per("day", 101), per("month", 200)])
          yield* evaluateAt(midnight - 8_000)
          yield* spend(owner, midnight - 4_000, 100)
          yield* evaluateAt(midnight + 2_000)
          yield* spend(owner, midnight + 3_000, 100)
          yield* evaluateAt(midnight + 12_000)
          const events = yield* eventsOf(owner)
          // two of them at once, in any order
          expect(
            new Set(events.map(({ periodStart, spentMicroUsd }) => `${periodStart?.toISOString()} ${spentMicroUsd}`))
          ).toEqual(
            new Set(["2100-03-17T00:00:00.000Z 100", "2100-03-18T00:00:00.000Z 100", "2100-03-01T00:00:00.000Z 200"])
          )
          expect(events).toHaveLength(3)
        })
      )

      it.effect("a period is looked at for an hour after its end, and by the thresholds that were there then", () =>
        Effect.gen(function* () {
          const midnight = Date.UTC(2100, 3, 18)
          const hour = 3_600_000
          const sql = yield* SqlClient
          const late = yield* aProject()
          yield* watch(late, [per("day", 100)])
          yield* spend(late, midnight - 4_000, 100)
          yield* evaluateAt(midnight + hour)
          expect(yield* reachedBy(late)).toEqual([])
          yield* evaluateAt(midnight + hour - 1)
          expect(yield* reachedBy(late)).toEqual([100])
          const changed = yield* aProject()
          yield* watch(changed, [per("day", 100)])
          const setAt = (millis: number) =>
            sql`update alert set thresholds_set_at = ${new Date(millis)} where project_id = ${changed.projectId}`
          yield* spend(changed, midnight - 4_000, 100)
          yield* setAt(midnight)
          yield* evaluateAt(midnight + 2_000)
          expect(yield* reachedBy(changed)).toEqual([])
          // another URL changes no threshold
          yield* setAt(midnight - 1)
          yield* watch(changed, [per("day", 100)], "https://example.com/hook")
          yield* evaluateAt(midnight + 2_000)
          expect(yield* reachedBy(changed)).toEqual([100])
          const limited = yield* aProject(100)
          yield* sql`update scope set limit_reset = 'day' where id = ${limited.projectId}`
          yield* watch(limited, [ofLimit(100)])
          yield* spend(limited, midnight - 4_000, 100)
          yield* evaluateAt(midnight + 2_000)
          expect(yield* reachedBy(limited)).toEqual([])
        })
      )

      it.effect("what is spent after midnight counts from there, also for a node whose clock is behind", () =>
        Effect.gen(function* () {
          const midnight = Date.UTC(2100, 2, 18)
          const owner = yield* aProject(1_000)
          const sql = yield* SqlClient
          yield* sql`update scope set limit_reset = 'day' where id = ${owner.projectId}`
          yield* watch(owner, [per("day", 100), ofLimit(10)])
          yield* spend(owner, midnight + 5_000, 100)
          yield* evaluateAt(midnight - 60_000)
          expect(yield* eventsOf(owner)).toEqual([])
          yield* evaluateAt(midnight + 60_000)
          expect((yield* eventsOf(owner)).map(({ periodStart }) => periodStart)).toEqual([
            new Date(midnight),
            new Date(midnight)
          ])
        })
      )

      it.effect.skipIf(name === "embedded")("nothing is noted of a project that is deleted meanwhile", () =>
        Effect.gen(function* () {
          const [store, sql, observer] = [yield* AlertStore, yield* AccountSql, yield* SqlClient]
          const owner = yield* aProject()
          yield* watch(owner, [per("day", 100)])
          yield* spend(owner, wednesday, 100)
          // those of other tests would come first
          yield* sql`update alert set thresholds = '[]' where project_id <> ${owner.projectId}`
          const [noted, ends] = [yield* Deferred.make<unknown, StoreUnavailable>(), yield* Deferred.make<void>()]
          const evaluation = Effect.intoDeferred(store.evaluate(undefined, new Date(wednesday)), noted)
          const evaluating = yield* Effect.fork(sql.withTransaction(Effect.zipRight(evaluation, Deferred.await(ends))))
          expect(yield* Deferred.await(noted)).toBe(owner.projectId)
          const erasing = yield* Effect.fork(store.erase(owner.projectId))
          // it waits for what is being noted, or is over
          const waiting = observer<{ readonly n: number }>`select count(*)::int as n from pg_stat_activity
            where wait_event_type = 'Lock' and datname = current_database()`
          while ((yield* waiting)[0]?.n === 0 && Option.isNone(yield* Fiber.poll(erasing))) yield* Effect.yieldNow()
          yield* Deferred.succeed(ends, undefined)
          yield* Fiber.join(evaluating)
          yield* Fiber.join(erasing)
          expect(yield* eventsOf(owner)).toEqual([])
        })
      )

      it.effect("nodes that evaluate and deliver at once fire and send once", () =>
        Effect.gen(function* () {
          const { received, url } = yield* receiver([200])
          const owners = yield* Effect.all(Array.from({ length: 25 }, () => aProject()))
          for (const owner of owners) {
            yield* watch(owner, [per("day", 1)], url)
            yield* spend(owner, wednesday, 1)
          }
          const nodes = <A, E, R>(run: Effect.Effect<A, E, R>) =>
            Effect.all(
              Array.from({ length: 4 }, () => run),
              { concurrency: "unbounded" }
            )
          yield* nodes(evaluateAt(wednesday))
          yield* evaluateAt(wednesday)
          for (const owner of owners) expect(yield* reachedBy(owner)).toEqual([1])
          yield* nodes(deliverAt(wednesday))
          expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(25)
          expect(received).toHaveLength(25)
        }).pipe(Effect.scoped)
      )

      it.effect("many events of one account do not go before one of another that is due later", () =>
        Effect.gen(function* () {
          const store = yield* AlertStore
          const [many, one] = [yield* aProject(), yield* aProject()]
          const url = "https://alerts.example/hook"
          yield* watch(
            many,
            Array.from({ length: 20 }, (_, index) => per("day", index + 1)),
            url
          )
          yield* spend(many, wednesday, 20)
          yield* evaluateAt(wednesday)
          yield* watch(one, [per("day", 1)], url)
          yield* spend(one, wednesday, 1)
          yield* evaluateAt(wednesday + 1_000)
          const taken = (yield* store.take(new Date(wednesday + 2_000), 16, retryAfterSeconds)).map(
            ({ projectId }) => projectId
          )
          expect(taken).toContain(one.projectId)
          expect(taken).toContain(many.projectId)
          yield* Effect.forEach([one, many], ({ projectId }) => store.erase(projectId))
        })
      )

      it.effect("an event is signed, sent again until it arrives, and then no more", () =>
        Effect.gen(function* () {
          const { received, url } = yield* receiver([500, 302, 204])
          const owner = yield* aProject(1_000)
          const secret = yield* watch(owner, [ofLimit(10)], url)
          yield* setScope(owner, 100, 1_000)
          yield* evaluateAt(wednesday)
          yield* deliverAt(wednesday)
          expect(yield* eventsOf(owner)).toMatchObject([{ attempts: 1, lastError: "status_500", deliveredAt: null }])
          yield* deliverAt(wednesday + 9_999)
          expect(received).toHaveLength(1)
          yield* deliverAt(wednesday + 10_000)
          expect(yield* eventsOf(owner)).toMatchObject([{ attempts: 2, lastError: "status_302", deliveredAt: null }])
          const arrivedAt = wednesday + 70_000
          yield* deliverAt(arrivedAt)
          yield* deliverAt(wednesday + 10 * day)
          const [event] = yield* eventsOf(owner)
          expect(event).toMatchObject({
            attempts: 3,
            lastError: null,
            nextAttemptAt: null,
            deliveredAt: new Date(arrivedAt)
          })
          expect(received.map(({ path }) => path)).toEqual(["/hook", "/hook", "/hook"])
          for (const [index, { body, headers }] of received.entries()) {
            const seconds = wednesday / 1_000 + ([0, 10, 70][index] ?? Number.NaN)
            const signed = createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"))
              .update(`${event?.id}.${seconds}.${body}`)
              .digest("base64")
            expect(headers).toMatchObject({
              "content-type": "application/json",
              "webhook-id": event?.id,
              "webhook-timestamp": String(seconds),
              "webhook-signature": `v1,${signed}`
            })
            expect(JSON.parse(body)).toEqual({
              type: "alert.threshold_reached",
              timestamp: new Date(wednesday).toISOString(),
              data: {
                id: event?.id,
                project_id: owner.projectId,
                project_name: "watched",
                threshold: { type: "limit_percent", percent: 10 },
                period_start: null,
                spent_microusd: 100,
                limit_microusd: 1_000,
                fired_at: new Date(wednesday).toISOString()
              }
            })
            expect(Schema.is(Schema.encodedSchema(AlertNotification))(JSON.parse(body))).toBe(true)
          }
        }).pipe(Effect.scoped)
      )

      it.effect("a URL that never answers with success is given up", () =>
        Effect.gen(function* () {
          const { received, url } = yield* receiver([503])
          const owner = yield* aProject()
          yield* watch(owner, [per("day", 1)], url)
          yield* spend(owner, wednesday, 1)
          yield* evaluateAt(wednesday)
          let now = wednesday
          for (const seconds of [0, ...retryAfterSeconds]) {
            now += seconds * 1_000
            yield* deliverAt(now - 1)
            yield* deliverAt(now)
          }
          yield* deliverAt(now + 100 * day)
          expect(received).toHaveLength(8)
          expect(yield* eventsOf(owner)).toMatchObject([{ attempts: 8, lastError: "status_503", nextAttemptAt: null }])
        }).pipe(Effect.scoped)
      )

      it.effect("what a node took and lost is sent by another one", () =>
        Effect.gen(function* () {
          const { received, url } = yield* receiver([200])
          const owner = yield* aProject()
          yield* watch(owner, [per("day", 1)], url)
          yield* spend(owner, wednesday, 1)
          yield* evaluateAt(wednesday)
          const store = yield* AlertStore
          expect(yield* store.take(new Date(wednesday), 10, retryAfterSeconds)).toHaveLength(1)
          yield* deliverAt(wednesday + 5_000)
          expect(received).toHaveLength(0)
          yield* deliverAt(wednesday + 10_000)
          expect(received).toHaveLength(1)
        }).pipe(Effect.scoped)
      )

      it.effect("secrets are sealed anew under the next master key, once", () =>
        Effect.gen(function* () {
          const owner = yield* aProject()
          yield* watch(owner, [per("day", 1)], "https://hooks.example.com/")
          const opened = Effect.gen(function* () {
            const { webhook } = yield* (yield* AlertStore).read(owner.projectId)
            const secrets = yield* WebhookSecrets
            return webhook === null ? undefined : yield* secrets.open(owner.projectId, webhook.sealedSecret)
          })
          const secret = yield* opened
          expect(yield* Effect.provide(opened, withKeys(other))).toBeUndefined()
          const first = yield* Effect.provide(resealWebhooks, withKeys(other, masterKey))
          expect(first.resealed).toBeGreaterThan(0)
          expect(yield* Effect.provide(opened, withKeys(other))).toEqual(secret)
          expect(yield* Effect.provide(resealWebhooks, withKeys(other))).toEqual({ resealed: 0, unreadable: 0 })
          expect((yield* Effect.provide(resealWebhooks, withKeys(masterKey))).unreadable).toBe(first.resealed)
          yield* Effect.provide(resealWebhooks, withKeys(masterKey, other))
        })
      )

      it.effect("without a URL nothing waits to be sent, nor once it is removed", () =>
        Effect.gen(function* () {
          const { received, url } = yield* receiver([200])
          const owner = yield* aProject()
          yield* spend(owner, wednesday, 5)
          yield* watch(owner, [per("day", 1)])
          yield* evaluateAt(wednesday)
          yield* watch(owner, [per("day", 2)], url)
          yield* evaluateAt(wednesday)
          yield* watch(owner, [per("day", 2)])
          yield* watch(owner, [per("day", 2)], url)
          yield* deliverAt(wednesday)
          expect(yield* reachedBy(owner)).toEqual([1, 2])
          expect(received).toEqual([])
          // of a deleted project nothing is noticed
          const sql = yield* SqlClient
          yield* sql`update project set deleted_at = now() where id = ${owner.projectId}`
          yield* watch(owner, [per("day", 3)], url)
          yield* evaluateAt(wednesday)
          expect(yield* reachedBy(owner)).toEqual([1, 2])
        }).pipe(Effect.scoped)
      )
    })
  })
}

describe("secrets of webhooks", () => {
  const [project, otherProject] = [ProjectId.make(randomUUID()), ProjectId.make(randomUUID())]
  const make = Effect.flatMap(WebhookSecrets, (secrets) => secrets.make(project))
  const open = (id: ProjectId, sealed: Uint8Array) =>
    Effect.flatMap(WebhookSecrets, (secrets) => secrets.open(id, sealed))

  it.effect("open for their project only, also under the previous master key", () =>
    Effect.gen(function* () {
      const { sealed, secret } = yield* Effect.provide(make, withKeys(masterKey))
      const opened = [
        yield* Effect.provide(open(project, sealed), withKeys(masterKey)),
        yield* Effect.provide(open(project, sealed), withKeys(other, masterKey)),
        yield* Effect.provide(open(otherProject, sealed), withKeys(masterKey)),
        yield* Effect.provide(open(project, sealed), withKeys(other)),
        yield* Effect.provide(open(project, sealed), withKeys(null))
      ]
      expect(opened.map((one) => one && Redacted.value(one))).toEqual([
        Redacted.value(secret),
        Redacted.value(secret),
        undefined,
        undefined,
        undefined
      ])
    })
  )

  it.effect("cannot be made without a master key", () =>
    Effect.map(Effect.flip(Effect.provide(make, withKeys(null))), ({ _tag }) => expect(_tag).toBe("SealingUnavailable"))
  )
})
