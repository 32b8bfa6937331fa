import type * as Settings from "../../config/Settings.ts"

/** The active settings. What is built from `settings` at the start sees every later change, property by property. */
export interface LiveSettings {
  readonly settings: Settings.Settings
  readonly current: () => Settings.Settings
  readonly replace: (next: Settings.Settings) => void
}

export const make = (first: Settings.Settings): LiveSettings => {
  let current = first
  return {
    settings: viewOf(() => current),
    current: () => current,
    replace: (next) => {
      current = next
    }
  }
}

/** An object whose properties are read each time. Its keys are those that it has now. */
export const viewOf = <A extends object>(read: () => A): A => {
  const view = {}
  for (const key of Object.keys(read())) {
    Object.defineProperty(view, key, { enumerable: true, get: () => Reflect.get(read(), key) })
  }
  return view as A
}
