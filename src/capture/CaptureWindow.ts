import type { ProjectId } from "../domain/Ids.ts"

/** What a project collects of calls that opt in. A change of it closes the window and opens the next one. */
export interface CaptureSettings {
  readonly enabled: boolean
  /** The share of conversations that are taken, 0 to 1. */
  readonly samplingRate: number
  readonly retentionDays: number
  /** Of all windows of the project together. */
  readonly maxSamples: number
  /** fingerprint: no text is kept, only what tells blocks apart. */
  readonly content: "full" | "fingerprint"
  /** Samples may be sent to other models than the one that has answered, where an analysis is asked to. */
  readonly replayAllowed: boolean
  /** What whoever switches the collection on has to know. */
  readonly contentWarning: string
}

export interface CaptureWindow extends CaptureSettings {
  readonly projectId: ProjectId
  /** Counts the windows of the project from 1. */
  readonly configVersion: number
  /** Random: which conversations are taken cannot be foreseen. */
  readonly salt: Uint8Array
  /** Calls that began before do not belong to the window; an erasure moves it to its own time. */
  readonly openedAt: Date
}

export const defaultContentWarning =
  "Saved requests and responses may hold personal data or secrets. Redaction is not implemented: content is kept as it was sent. Turning collection off keeps the data that was saved before; it has to be erased separately."

/** Applies where nothing was ever set; nothing is collected. */
export const defaultSettings: CaptureSettings = {
  enabled: false,
  samplingRate: 1,
  retentionDays: 30,
  maxSamples: 10_000,
  content: "full",
  replayAllowed: false,
  contentWarning: defaultContentWarning
}
