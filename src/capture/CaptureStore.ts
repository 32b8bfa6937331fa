import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ParseError } from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { KeyId, ProjectId, RequestId } from "../domain/Ids.ts"
import { AccountSql } from "../sql/AccountDatabase.ts"
import { fromSql } from "../sql/StoreErrors.ts"
import type { CaptureWindow } from "./CaptureWindow.ts"
import { maxOfConversation, sharesOf } from "./Reservoir.ts"

/** A conversation of a window. */
export interface Place {
  readonly projectId: ProjectId
  readonly configVersion: number
  /** Hex. */
  readonly conversation: string
}

/** A sample that is about to be written. */
export interface NewSample extends Place {
  readonly id: RequestId
  readonly day: string
  /** The row of the key that it is sealed under: with another one it could never be read. */
  readonly dayKey: Uint8Array
  readonly base: string | null
  readonly keyId: KeyId
  readonly endUser: string | null
  readonly flowAuthorized: boolean
  readonly capturedAt: Date
  readonly expiresAt: Date
  readonly shared: ReadonlyArray<{ readonly id: string; readonly sealed: Uint8Array }>
  readonly sealed: Uint8Array
}

export interface Written {
  /** `false`: the window was closed meanwhile, so that nothing was written. */
  readonly isOpen: boolean
  readonly written: ReadonlySet<string>
}

const SampleRow = Schema.Struct({
  id: RequestId,
  projectId: ProjectId,
  configVersion: Schema.Int,
  conversation: Schema.String,
  day: Schema.String,
  base: Schema.NullOr(Schema.String),
  keyId: KeyId,
  endUser: Schema.NullOr(Schema.String),
  flowAuthorized: Schema.Boolean,
  capturedAt: Schema.DateFromSelf,
  expiresAt: Schema.DateFromSelf,
  samplingRate: Schema.Number,
  inclusion: Schema.Number,
  sealed: Schema.Uint8ArrayFromSelf
})
export type SampleRow = typeof SampleRow.Type

const ConversationRow = Schema.Struct({
  projectId: ProjectId,
  configVersion: Schema.Int,
  conversation: Schema.String,
  position: Schema.Number,
  inclusion: Schema.Number,
  calls: Schema.Int
})
export type ConversationRow = typeof ConversationRow.Type

/** Which samples an erasure is about. */
export type Erased =
  | { readonly _tag: "Sample"; readonly id: string }
  | { readonly _tag: "Key"; readonly keyId: string }
  | { readonly _tag: "EndUser"; readonly endUser: string }
  | { readonly _tag: "Conversation"; readonly conversation: string }

export interface CaptureStoreShape {
  /** The window that is open, whether or not it collects anything. */
  readonly window: (project: ProjectId) => Effect.Effect<CaptureWindow | undefined, StoreUnavailable>
  /** Waits for whoever writes samples of the project, and makes others wait until the transaction ends. */
  readonly lock: (project: ProjectId) => Effect.Effect<void, StoreUnavailable>
  /** Closes the window that is open, if any. */
  readonly open: (window: CaptureWindow) => Effect.Effect<void, StoreUnavailable>
  readonly countSamples: (project: ProjectId, at: Date) => Effect.Effect<number, StoreUnavailable>
  /** The key of the project as it is stored; the given one where there is none. */
  readonly projectKey: (
    project: ProjectId,
    sealed: Uint8Array | undefined
  ) => Effect.Effect<Uint8Array | undefined, StoreUnavailable>
  readonly dayKey: (
    project: ProjectId,
    day: string,
    sealed: Uint8Array | undefined
  ) => Effect.Effect<Uint8Array | undefined, StoreUnavailable>
  readonly projectKeys: (
    after: string | undefined,
    max: number
  ) => Effect.Effect<ReadonlyArray<{ readonly projectId: ProjectId; readonly sealed: Uint8Array }>, StoreUnavailable>
  readonly resealProjectKey: (
    project: ProjectId,
    before: Uint8Array,
    sealed: Uint8Array
  ) => Effect.Effect<void, StoreUnavailable>
  /**
   * The day whose key seals the conversation: `day` for a new one, and for one whose day is before `oldestDay`. `undefined` when the
   * window keeps only conversations that come before it.
   */
  readonly place: (
    place: Place,
    position: number,
    promptClass: string,
    day: string,
    oldestDay: string
  ) => Effect.Effect<string | undefined, StoreUnavailable>
  /** Samples of one window, all or none of which its closing has preceded; then gives up the conversations that there is no room for. */
  readonly write: (
    place: Pick<Place, "configVersion" | "projectId">,
    samples: ReadonlyArray<NewSample>
  ) => Effect.Effect<Written, StoreUnavailable>
  readonly sample: (id: string, at: Date) => Effect.Effect<SampleRow | undefined, StoreUnavailable>
  /** Newest first, those before `before`. */
  readonly page: (
    project: ProjectId,
    before: string | undefined,
    max: number,
    at: Date
  ) => Effect.Effect<ReadonlyArray<SampleRow>, StoreUnavailable>
  /** Of one conversation, by id. */
  readonly ofConversation: (place: Place) => Effect.Effect<ReadonlyArray<SampleRow>, StoreUnavailable>
  readonly shared: (
    project: ProjectId,
    day: string,
    ids: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<{ readonly id: string; readonly sealed: Uint8Array }>, StoreUnavailable>
  /** With samples between the two times that have not expired, in hash order. */
  readonly conversations: (
    project: ProjectId,
    from: Date,
    to: Date,
    max: number,
    at: Date
  ) => Effect.Effect<ReadonlyArray<ConversationRow>, StoreUnavailable>
  /** By version and conversation, those after `after`. */
  readonly conversationsAfter: (
    project: ProjectId,
    after: Pick<Place, "configVersion" | "conversation"> | undefined,
    max: number
  ) => Effect.Effect<ReadonlyArray<Place>, StoreUnavailable>
  /** The conversations that an erasure touches. */
  readonly touched: (project: ProjectId, erased: Erased) => Effect.Effect<ReadonlyArray<Place>, StoreUnavailable>
  /** Puts samples of the conversation in place of all that are there. */
  readonly replace: (
    place: Place,
    samples: ReadonlyArray<Omit<NewSample, "dayKey">>
  ) => Effect.Effect<void, StoreUnavailable>
  /** Packs that no sample of the project refers to. */
  readonly sweep: (project: ProjectId) => Effect.Effect<void, StoreUnavailable>
  /** The keys first: without them nothing can be read again. Windows stay, and whether anything is collected. */
  readonly eraseProject: (project: ProjectId) => Effect.Effect<number, StoreUnavailable>
  /** A portion of what has expired, keys first; the number of rows. */
  readonly deleteExpired: (at: Date, max: number) => Effect.Effect<number, StoreUnavailable>
}

/** The tables of captured calls. */
export class CaptureStore extends Context.Tag("gateway/capture/CaptureStore")<CaptureStore, CaptureStoreShape>() {
  static readonly layer: Layer.Layer<CaptureStore, never, AccountSql> = Layer.effect(
    this,
    Effect.map(AccountSql, (sql) => make(sql))
  )
}

const WindowRow = Schema.Struct({
  projectId: ProjectId,
  configVersion: Schema.Int,
  enabled: Schema.Boolean,
  samplingRate: Schema.Number,
  retentionDays: Schema.Int,
  maxSamples: Schema.Int,
  content: Schema.Literal("full", "fingerprint"),
  replayAllowed: Schema.Boolean,
  contentWarning: Schema.String,
  salt: Schema.Uint8ArrayFromSelf,
  openedAt: Schema.DateFromSelf
})
const Bytes = Schema.Uint8ArrayFromSelf
const decodeWindows = Schema.decodeUnknown(Schema.Array(WindowRow))
const decodeSamples = Schema.decodeUnknown(Schema.Array(SampleRow))
const decodeConversations = Schema.decodeUnknown(Schema.Array(ConversationRow))
const decodeSealed = Schema.decodeUnknown(Schema.Array(Schema.Struct({ sealed: Bytes })))
const decodePacks = Schema.decodeUnknown(Schema.Array(Schema.Struct({ id: Schema.String, sealed: Bytes })))
const decodeProjectKeys = Schema.decodeUnknown(Schema.Array(Schema.Struct({ projectId: ProjectId, sealed: Bytes })))
const decodeDays = Schema.decodeUnknown(Schema.Array(Schema.Struct({ day: Schema.String })))
const decodeIds = Schema.decodeUnknown(Schema.Array(Schema.Struct({ id: Schema.String })))
const decodeCount = Schema.decodeUnknown(Schema.Tuple(Schema.Struct({ count: Schema.Int })))
const decodeOpen = Schema.decodeUnknown(Schema.Array(Schema.Struct({ maxSamples: Schema.Int })))
const decodePlaces = Schema.decodeUnknown(
  Schema.Array(Schema.Struct({ projectId: ProjectId, configVersion: Schema.Int, conversation: Schema.String }))
)
const decodeLoads = Schema.decodeUnknown(
  Schema.Array(
    Schema.Struct({ configVersion: Schema.Int, class: Schema.String, samples: Schema.Int, isFull: Schema.Boolean })
  )
)
const decodeLast = Schema.decodeUnknown(
  Schema.Array(Schema.Struct({ conversation: Schema.String, position: Schema.Number, samples: Schema.Int }))
)

/** Conversations that are given up by one statement. */
const perStatement = 200

type Load = {
  readonly configVersion: number
  readonly class: string
  readonly samples: number
  readonly isFull: boolean
}

const make = (sql: SqlClient): CaptureStoreShape => {
  const sampleColumns = sql.literal(`s.id, s.project_id as "projectId", s.config_version as "configVersion",
    encode(s.conversation, 'hex') as conversation, s.day::text as day, s.base, s.key_id as "keyId",
    encode(s.end_user, 'hex') as "endUser", s.flow_authorized as "flowAuthorized", s.captured_at as "capturedAt",
    s.expires_at as "expiresAt", w.sampling_rate as "samplingRate", least(w.sampling_rate, coalesce(t.below, 1)) as inclusion,
    s.sealed`)
  const joined = sql.literal(`join capture_conversation c on c.project_id = s.project_id
      and c.config_version = s.config_version and c.conversation = s.conversation
    join capture_window w on w.project_id = s.project_id and w.config_version = s.config_version
    left join capture_threshold t on t.project_id = s.project_id and t.config_version = s.config_version and t.class = c.class`)
  const bytes = (hex: string) => Buffer.from(hex, "hex")
  const at = ({ configVersion, conversation, projectId }: Place) =>
    sql`project_id = ${projectId} and config_version = ${configVersion} and conversation = ${bytes(conversation)}`

  const insertPacks = (projectId: ProjectId, day: string, packs: NewSample["shared"]) =>
    Effect.forEach(
      packs,
      ({ id, sealed }) =>
        sql`insert into capture_shared (project_id, day, id, sealed) values (${projectId}, ${day}, ${bytes(id)}, ${sealed})
          on conflict do nothing`,
      { discard: true }
    )

  /** Not after its conversation or its base was given up, nor under a key that is gone. */
  const insert = (sample: NewSample, maxInConversation: number) =>
    Effect.zipRight(
      insertPacks(sample.projectId, sample.day, sample.shared),
      sql`with counted as (
          update capture_conversation set samples = samples + 1
          where ${at(sample)} and samples < ${maxInConversation} and day = ${sample.day}
            and (${sample.base}::uuid is null or exists (select from capture_sample b where b.id = ${sample.base}))
            and not exists (select from capture_sample k where k.id = ${sample.id})
            and exists (select from capture_day_key d
              where d.project_id = ${sample.projectId} and d.day = ${sample.day} and d.sealed = ${sample.dayKey})
          returning project_id
        )
        insert into capture_sample (id, project_id, config_version, conversation, day, base, key_id, end_user, flow_authorized,
          captured_at, expires_at, shared, sealed)
        select ${sample.id}::uuid, project_id, ${sample.configVersion}::int, ${bytes(sample.conversation)}::bytea,
          ${sample.day}::date, ${sample.base}::uuid, ${sample.keyId}::uuid,
          ${sample.endUser === null ? null : bytes(sample.endUser)}::bytea, ${sample.flowAuthorized}::boolean,
          ${sample.capturedAt}::timestamptz, ${sample.expiresAt}::timestamptz,
          ${sharedIds(sample.shared)}::bytea[], ${sample.sealed}::bytea
        from counted returning id`
    ).pipe(Effect.flatMap(decodeIds))

  /** From the end of the hash order on, until at most `kept` samples are left. */
  const giveUp = (
    { configVersion, projectId }: Pick<Place, "configVersion" | "projectId">,
    classes: ReadonlyArray<string>,
    samples: number,
    kept: number
  ): Effect.Effect<void, ParseError | SqlError> =>
    Effect.gen(function* () {
      if (samples <= kept) return
      const within = sql`project_id = ${projectId} and config_version = ${configVersion} and ${sql.in("class", classes)}`
      const last = yield* decodeLast(
        yield* sql`select encode(conversation, 'hex') as conversation, u as position, samples from capture_conversation
          where ${within} order by u desc limit ${perStatement}`
      )
      let left = samples
      const given: Array<string> = []
      let below = 1
      for (const { conversation, position, samples: some } of last) {
        if (left <= kept) break
        left -= some
        below = position
        given.push(conversation)
      }
      if (given.length === 0) return
      const conversations = sql.in("conversation", given.map(bytes))
      yield* sql`delete from capture_sample where project_id = ${projectId} and config_version = ${configVersion} and ${conversations}`
      yield* sql`delete from capture_conversation where ${within} and ${conversations}`
      yield* Effect.forEach(
        classes,
        (name) =>
          sql`insert into capture_threshold (project_id, config_version, class, below)
            values (${projectId}, ${configVersion}, ${name}, ${below})
            on conflict (project_id, config_version, class) do update set below = least(capture_threshold.below, excluded.below)`,
        { discard: true }
      )
      yield* giveUp({ configVersion, projectId }, classes, left, kept)
    })

  /** Samples of earlier windows go first, so that the latest fills up as if it were alone. */
  const makeRoom = (projectId: ProjectId, current: number, maxSamples: number) =>
    Effect.gen(function* () {
      const loads = yield* decodeLoads(
        yield* sql`select c.config_version as "configVersion", c.class, sum(c.samples)::int as samples,
            exists (select from capture_threshold t where t.project_id = c.project_id
              and t.config_version = c.config_version and t.class = c.class) as "isFull"
          from capture_conversation c where c.project_id = ${projectId}
          group by c.project_id, c.config_version, c.class order by c.config_version`
      )
      let excess = sumOf(loads) - maxSamples
      for (const version of new Set(loads.map(({ configVersion }) => configVersion))) {
        if (excess <= 0 || version === current) continue
        const own = loads.filter(({ configVersion }) => configVersion === version)
        const samples = sumOf(own)
        yield* giveUp(
          { projectId, configVersion: version },
          own.map(({ class: name }) => name),
          samples,
          Math.max(0, samples - excess)
        )
        excess -= samples
      }
      const own = loads.filter(({ configVersion }) => configVersion === current)
      if (sumOf(own) <= maxSamples) return
      for (const [name, share] of sharesOf(maxSamples, own)) {
        const samples = sumOf(own.filter((load) => load.class === name))
        yield* giveUp({ projectId, configVersion: current }, [name], samples, share)
      }
    })

  return {
    window: (project) =>
      sql`select project_id as "projectId", config_version as "configVersion", enabled, sampling_rate as "samplingRate",
          retention_days as "retentionDays", max_samples as "maxSamples", content, replay_allowed as "replayAllowed",
          content_warning as "contentWarning", salt, opened_at as "openedAt"
        from capture_window where project_id = ${project} and closed_at is null`.pipe(
        Effect.flatMap(decodeWindows),
        Effect.map(([found]) => found),
        fromSql
      ),
    lock: (project) =>
      sql`select from capture_window where project_id = ${project} order by config_version for update`.pipe(
        Effect.asVoid,
        fromSql
      ),
    open: (window) =>
      Effect.zipRight(
        sql`update capture_window set closed_at = ${window.openedAt}
          where project_id = ${window.projectId} and closed_at is null`,
        sql`insert into capture_window (project_id, config_version, enabled, sampling_rate, retention_days, max_samples, content,
            replay_allowed, content_warning, salt, opened_at)
          values (${window.projectId}, ${window.configVersion}, ${window.enabled}, ${window.samplingRate},
            ${window.retentionDays}, ${window.maxSamples}, ${window.content}, ${window.replayAllowed},
            ${window.contentWarning}, ${window.salt}, ${window.openedAt})`
      ).pipe(Effect.asVoid, fromSql),
    countSamples: (project, now) =>
      sql`select count(*)::int as count from capture_sample where project_id = ${project} and expires_at > ${now}`.pipe(
        Effect.flatMap(decodeCount),
        Effect.map(([{ count }]) => count),
        fromSql
      ),
    projectKey: (project, sealed) =>
      Effect.zipRight(
        sealed === undefined
          ? Effect.void
          : sql`insert into capture_project_key (project_id, sealed) values (${project}, ${sealed}) on conflict do nothing`,
        sql`select sealed from capture_project_key where project_id = ${project}`
      ).pipe(
        Effect.flatMap(decodeSealed),
        Effect.map(([found]) => found?.sealed),
        fromSql
      ),
    dayKey: (project, day, sealed) =>
      Effect.zipRight(
        sealed === undefined
          ? Effect.void
          : sql`insert into capture_day_key (project_id, day, sealed) values (${project}, ${day}, ${sealed})
              on conflict do nothing`,
        sql`select sealed from capture_day_key where project_id = ${project} and day = ${day}`
      ).pipe(
        Effect.flatMap(decodeSealed),
        Effect.map(([found]) => found?.sealed),
        fromSql
      ),
    projectKeys: (after, max) =>
      sql`select project_id as "projectId", sealed from capture_project_key
        where ${after === undefined ? sql`true` : sql`project_id > ${after}`} order by project_id limit ${max}`.pipe(
        Effect.flatMap(decodeProjectKeys),
        fromSql
      ),
    resealProjectKey: (project, before, sealed) =>
      sql`update capture_project_key set sealed = ${sealed} where project_id = ${project} and sealed = ${before}`.pipe(
        Effect.asVoid,
        fromSql
      ),
    place: (place, position, promptClass, day, oldestDay) =>
      sql`insert into capture_conversation (project_id, config_version, conversation, day, class, u)
        select ${place.projectId}::uuid, ${place.configVersion}::int, ${bytes(place.conversation)}::bytea, ${day}::date,
          ${promptClass}::text, ${position}::double precision
        where exists (select from capture_conversation where ${at(place)})
          or not exists (select from capture_threshold where project_id = ${place.projectId}
            and config_version = ${place.configVersion} and class = ${promptClass} and below <= ${position})
        on conflict (project_id, config_version, conversation) do update
          set day = case when capture_conversation.day < ${oldestDay}::date then excluded.day else capture_conversation.day end
        returning day::text as day`.pipe(
        Effect.flatMap(decodeDays),
        Effect.map(([found]) => found?.day),
        fromSql
      ),
    write: ({ configVersion, projectId }, samples) =>
      sql
        .withTransaction(
          Effect.gen(function* () {
            const [open] = yield* decodeOpen(
              yield* sql`select max_samples as "maxSamples" from capture_window where project_id = ${projectId}
                and config_version = ${configVersion} and enabled and closed_at is null for update`
            )
            const written = new Set<string>()
            if (open === undefined) return { isOpen: false, written }
            const { maxSamples } = open
            for (const sample of samples) {
              for (const { id } of yield* insert(sample, maxOfConversation(maxSamples))) written.add(id)
            }
            yield* makeRoom(projectId, configVersion, maxSamples)
            return { isOpen: true, written }
          })
        )
        .pipe(fromSql),
    sample: (id, now) =>
      sql`select ${sampleColumns} from capture_sample s ${joined} where s.id = ${id} and s.expires_at > ${now}`.pipe(
        Effect.flatMap(decodeSamples),
        Effect.map(([found]) => found),
        fromSql
      ),
    page: (project, before, max, now) =>
      sql`select ${sampleColumns} from capture_sample s ${joined}
        where s.project_id = ${project} and s.expires_at > ${now} and ${before === undefined ? sql`true` : sql`s.id < ${before}`}
        order by s.id desc limit ${max}`.pipe(Effect.flatMap(decodeSamples), fromSql),
    ofConversation: ({ configVersion, conversation, projectId }) =>
      sql`select ${sampleColumns} from capture_sample s ${joined}
        where s.project_id = ${projectId} and s.config_version = ${configVersion} and s.conversation = ${bytes(conversation)}
        order by s.id`.pipe(Effect.flatMap(decodeSamples), fromSql),
    shared: (project, day, ids) =>
      ids.length === 0
        ? Effect.succeed([])
        : sql`select encode(id, 'hex') as id, sealed from capture_shared
            where project_id = ${project} and day = ${day} and ${sql.in("id", ids.map(bytes))}`.pipe(
            Effect.flatMap(decodePacks),
            fromSql
          ),
    conversations: (project, from, to, max, now) =>
      sql`select c.project_id as "projectId", c.config_version as "configVersion",
          encode(c.conversation, 'hex') as conversation, c.u as position,
          least(w.sampling_rate, coalesce(t.below, 1)) as inclusion, c.samples as calls
        from capture_conversation c
          join capture_window w on w.project_id = c.project_id and w.config_version = c.config_version
          left join capture_threshold t on t.project_id = c.project_id and t.config_version = c.config_version
            and t.class = c.class
        where c.project_id = ${project} and exists (select from capture_sample s where s.project_id = c.project_id
          and s.conversation = c.conversation and s.config_version = c.config_version and s.captured_at >= ${from}
          and s.captured_at < ${to} and s.expires_at > ${now})
        order by c.u, c.config_version desc limit ${max}`.pipe(Effect.flatMap(decodeConversations), fromSql),
    conversationsAfter: (project, after, max) =>
      sql`select project_id as "projectId", config_version as "configVersion", encode(conversation, 'hex') as conversation
        from capture_conversation where project_id = ${project} and samples > 0
          and ${
            after === undefined
              ? sql`true`
              : sql`(config_version, conversation) > (${after.configVersion}, ${bytes(after.conversation)})`
          }
        order by config_version, conversation limit ${max}`.pipe(Effect.flatMap(decodePlaces), fromSql),
    touched: (project, erased) =>
      sql`select distinct project_id as "projectId", config_version as "configVersion",
          encode(conversation, 'hex') as conversation
        from capture_sample where project_id = ${project} and ${
          erased._tag === "Sample"
            ? sql`id = ${erased.id}`
            : erased._tag === "Key"
              ? sql`key_id = ${erased.keyId}`
              : erased._tag === "EndUser"
                ? sql`end_user = ${bytes(erased.endUser)}`
                : sql`conversation = ${bytes(erased.conversation)}`
        }`.pipe(Effect.flatMap(decodePlaces), fromSql),
    replace: (place, samples) =>
      Effect.gen(function* () {
        yield* sql`delete from capture_sample where ${at(place)}`
        for (const sample of samples) {
          yield* insertPacks(place.projectId, sample.day, sample.shared)
          yield* sql`insert into capture_sample (id, project_id, config_version, conversation, day, base, key_id, end_user,
              flow_authorized, captured_at, expires_at, shared, sealed)
            values (${sample.id}, ${place.projectId}, ${place.configVersion}, ${bytes(place.conversation)}, ${sample.day},
              ${sample.base}, ${sample.keyId}, ${sample.endUser === null ? null : bytes(sample.endUser)},
              ${sample.flowAuthorized}, ${sample.capturedAt}, ${sample.expiresAt},
              ${sharedIds(sample.shared)}::bytea[], ${sample.sealed})`
        }
        yield* samples.length === 0
          ? sql`delete from capture_conversation where ${at(place)}`
          : sql`update capture_conversation set samples = ${samples.length} where ${at(place)}`
      }).pipe(fromSql),
    sweep: (project) =>
      sql`with used as (
          select distinct day, unnest(shared) as id from capture_sample where project_id = ${project}
        )
        delete from capture_shared s where s.project_id = ${project}
          and not exists (select from used u where u.day = s.day and u.id = s.id)`.pipe(Effect.asVoid, fromSql),
    eraseProject: (project) =>
      Effect.gen(function* () {
        yield* sql`delete from capture_project_key where project_id = ${project}`
        yield* sql`delete from capture_day_key where project_id = ${project}`
        const gone = yield* decodeIds(yield* sql`delete from capture_sample where project_id = ${project} returning id`)
        yield* sql`delete from capture_shared where project_id = ${project}`
        yield* sql`delete from capture_conversation where project_id = ${project}`
        yield* sql`delete from capture_threshold where project_id = ${project}`
        return gone.length
      }).pipe(fromSql),
    deleteExpired: (now, max) =>
      sql
        .withTransaction(
          Effect.gen(function* () {
            yield* sql`delete from capture_day_key k where k.day < ${now}::timestamptz::date - 1
              and not exists (select from capture_sample s
                where s.project_id = k.project_id and s.day = k.day and s.expires_at > ${now})`
            const [{ count }] = yield* decodeCount(
              yield* sql`with gone as (
                  delete from capture_sample where id in (
                    select id from capture_sample where expires_at <= ${now} order by expires_at limit ${max}
                    for update skip locked)
                  returning project_id, config_version, conversation
                ), per as (
                  select project_id, config_version, conversation, count(*)::int as samples from gone group by 1, 2, 3
                ), counted as (
                  update capture_conversation c set samples = greatest(0, c.samples - per.samples) from per
                  where c.project_id = per.project_id and c.config_version = per.config_version
                    and c.conversation = per.conversation
                )
                select count(*)::int as count from gone`
            )
            yield* sql`delete from capture_shared s
              where not exists (select from capture_day_key k where k.project_id = s.project_id and k.day = s.day)`
            yield* sql`delete from capture_conversation c where c.samples = 0
              and not exists (select from capture_day_key k where k.project_id = c.project_id and k.day = c.day)`
            return count
          })
        )
        .pipe(fromSql)
  }
}

const sumOf = (loads: ReadonlyArray<Load>): number => loads.reduce((sum, { samples }) => sum + samples, 0)

/** An array of bytea, as PostgreSQL writes one. */
const sharedIds = (shared: NewSample["shared"]): string => `{${shared.map(({ id }) => `"\\\\x${id}"`).join(",")}}`
