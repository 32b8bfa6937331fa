/** Finds the end of a JSON object or array that comes in pieces, each character read once. */
export class JsonEnd {
  private depth = 0
  private isInString = false
  private isEscaped = false
  /** The outermost bracket has been closed. */
  isReached = false

  add(piece: string): void {
    for (let at = 0; at < piece.length && !this.isReached; at++) this.step(piece.charCodeAt(at))
  }

  private step(unit: number): void {
    if (this.isInString) {
      if (this.isEscaped) this.isEscaped = false
      else if (unit === backslash) this.isEscaped = true
      else if (unit === quote) this.isInString = false
    } else if (unit === quote) this.isInString = true
    else if (unit === openBrace || unit === openBracket) this.depth++
    else if (unit === closeBrace || unit === closeBracket) {
      this.depth--
      this.isReached = this.depth <= 0
    }
  }
}

const quote = 0x22
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
