import type { TimersShape } from "../../domain/Timers.ts"
import type { Provider, ProviderCall } from "../../provider/Provider.ts"
import { type Script, ScriptPlayer } from "../../provider/simulated/Script.ts"

export {
  activity,
  answer,
  end,
  event,
  fail,
  finish,
  hang,
  type Script,
  type ScriptStep,
  text,
  used,
  wait
} from "../../provider/simulated/Script.ts"

/** `ordinal` counts the calls of the provider from 0. */
export type ScriptFor = (call: ProviderCall, ordinal: number) => Script

/** A call that the provider was given. */
export interface RecordedCall {
  /** As the gateway made it. */
  readonly call: ProviderCall
  /** By the timers of the provider. */
  readonly openedAtMillis: number
  /** `open`: neither ended nor closed. */
  readonly state: () => "open" | "ended" | "failed" | "closed"
  /** `undefined` while it is open. */
  readonly closedAtMillis: () => number | undefined
  /** How often the reader was slow. */
  readonly pauses: () => number
  /** Events so far. */
  readonly delivered: () => number
}

/** A provider that follows scripts and records its calls. */
export interface ScriptedProvider extends Provider {
  /** In the order of their start. */
  readonly calls: ReadonlyArray<RecordedCall>
  /** Number of calls that are neither ended nor closed. */
  readonly running: () => number
}

/** By upstream model name; a model without a script is a defect of the test. */
export const byModel =
  (scripts: Readonly<Record<string, Script>>): ScriptFor =>
  (call) => {
    const script = scripts[call.model.upstreamModel] ?? scripts[call.model.id]
    if (script === undefined) throw new Error(`no script for ${call.model.id}`)
    return script
  }

/** The n-th call gets the n-th script; the last one serves all further calls. */
export const inTurn =
  (...scripts: ReadonlyArray<Script>): ScriptFor =>
  (_, ordinal) =>
    scripts[Math.min(ordinal, scripts.length - 1)] ?? []

/** A provider that follows scripts, in the time of `timers`. */
export const make = (options: {
  readonly id: string
  readonly timers: TimersShape
  readonly script: ScriptFor
}): ScriptedProvider => {
  const calls: Array<RecordedCall> = []
  return {
    id: options.id,
    calls,
    running: () => calls.filter((call) => call.state() === "open").length,
    open: (call, receiver) => {
      const playing = new ScriptPlayer(options.id, options.timers, options.script(call, calls.length), receiver)
      calls.push({
        call,
        openedAtMillis: options.timers.now(),
        state: () => playing.state,
        closedAtMillis: () => playing.closedAtMillis,
        pauses: () => playing.pauses,
        delivered: () => playing.delivered
      })
      return playing
    }
  }
}
