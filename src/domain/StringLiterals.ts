/** A long string of a client's JSON, and how the client has written it. */
export interface StringLiteral {
  /** What it stands for. */
  readonly value: string
  /** The literal in UTF-8, with its quotes. */
  readonly utf8: Uint8Array
}

/**
 * The long strings of a client's body, in its order. A provider's body takes a literal as it is: escaping and encoding the value
 * again is what a call with a long prompt spends most time on. They share the memory of the client's body, which would otherwise
 * be kept until the call ends, so only the first attempt gets them.
 */
export class StringLiterals {
  private left: ReadonlyArray<StringLiteral>

  constructor(literals: ReadonlyArray<StringLiteral>) {
    this.left = literals
  }

  /** All of them at first, then none. */
  take(): ReadonlyArray<StringLiteral> {
    const taken = this.left
    this.left = []
    return taken
  }
}
