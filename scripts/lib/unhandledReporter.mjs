// @ts-check
import { writeFileSync } from "node:fs"

/** A reporter of Vitest that writes the messages of the errors outside every test, which its JSON does not have. */
export default class UnhandledReporter {
  /** @param {unknown} _modules @param {ReadonlyArray<{ readonly message?: string }>} errors */
  onTestRunEnd(_modules, errors) {
    const path = process.env["UNHANDLED_ERRORS"]
    if (path !== undefined) writeFileSync(path, JSON.stringify(errors.map(({ message = "" }) => message)))
  }
}
