import * as Data from "effect/Data"

/** The file, or the database that it should be written to, is not what it has to be. */
export class TransferFailed extends Data.TaggedError("TransferFailed")<{ readonly reason: string }> {
  override get message() {
    return this.reason
  }
}
