import type * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"

/** Writes what is logged into `lines`, as `key=value`, in place of the console. */
export const logTo = (lines: Array<string>, shown = (line: string): string => line): Layer.Layer<never> =>
  Logger.replace(
    Logger.defaultLogger,
    Logger.map(Logger.logfmtLogger, (line) => {
      lines.push(shown(line))
    })
  )

/** Of a line, without its time and level. */
export const fromMessage = (line: string): string => line.replace(/^.*message=/, "")
