import * as Data from "effect/Data"
import { type JsonPath, jsonPathText } from "./JsonPath.ts"

/** One thing that is wrong in a configuration. Neither part ever holds a value, which could be a secret. */
export interface ConfigIssue {
  /** An environment variable, or the place in the configuration file or the options, such as `providers[0].models[1].id`. */
  readonly path: string
  /** What is wrong there. */
  readonly message: string
}

/** What is wrong at a place of the options. */
export const issueAt = (path: JsonPath, message: string): ConfigIssue => ({ path: jsonPathText(path), message })

/** Nothing can be started with this configuration; every issue is reported at once. */
export class InvalidConfiguration extends Data.TaggedError("InvalidConfiguration")<{
  /** All that is wrong, at least one. */
  readonly issues: ReadonlyArray<ConfigIssue>
  /** The service's configuration file, where there is one. */
  readonly file?: string
}> {
  override get message(): string {
    return this.issues.map((issue) => `${issue.path}: ${issue.message}`).join("\n")
  }
}
