import * as Data from "effect/Data"

/** Another process has the data directory open; two of them would silently lose rows. */
export class DirectoryInUse extends Data.TaggedError("DirectoryInUse")<{ readonly directory: string }> {
  override get message() {
    return `the data directory ${this.directory} is in use by another process; stop it, or set DATA_DIR or DATABASE_URL`
  }
}

/** The database could not be opened, or has stopped on its own. */
export class DatabaseFailed extends Data.TaggedError("DatabaseFailed")<{
  /** A directory, or the word for what it is; never a URL, which may carry a password. */
  readonly database: string
  readonly cause: unknown
}> {
  override get message() {
    return `${this.database} failed: ${this.cause instanceof Error ? this.cause.message : String(this.cause)}`
  }
}
