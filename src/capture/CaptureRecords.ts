import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { KeyId, ProjectId, RequestId } from "../domain/Ids.ts"
import type { CaptureWindow } from "./CaptureWindow.ts"

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
  /** Samples of calls that began before the last erasure: they are not written, since they may belong to it. */
  readonly erased: number
  readonly written: ReadonlySet<string>
}

export const SampleRow = Schema.Struct({
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

export const ConversationRow = Schema.Struct({
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
  /** The window that is open, whether or not it collects anything; a deleted project has none. */
  readonly window: (project: ProjectId) => Effect.Effect<CaptureWindow | undefined, StoreUnavailable>
  /** Waits for whoever writes samples of the project, and makes others wait until the transaction ends. */
  readonly lock: (project: ProjectId) => Effect.Effect<void, StoreUnavailable>
  /** Closes the window that is open, if any. */
  readonly open: (window: CaptureWindow) => Effect.Effect<void, StoreUnavailable>
  /** Nothing is written in the window that is open, if any, from the end of the transaction on. */
  readonly close: (project: ProjectId, at: Date) => Effect.Effect<void, StoreUnavailable>
  readonly countSamples: (project: ProjectId, at: Date) => Effect.Effect<number, StoreUnavailable>
  /** The key of the project as it is stored; the given one where there is none, and the project is not deleted. */
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
   * window keeps only conversations that come before it, or is closed.
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
  /** Calls that began before are not written any more, wherever they wait to be: the open window counts from then on. */
  readonly refuseBefore: (project: ProjectId, at: Date) => Effect.Effect<void, StoreUnavailable>
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
  /** A portion of what has expired, keys first; 0 when nothing is left. */
  readonly deleteExpired: (at: Date, max: number) => Effect.Effect<number, StoreUnavailable>
}
