/**
 * The arguments of one call as they come. Whether they are a whole object is asked for every fragment that names a function, so
 * each character is looked at once, however many fragments there are.
 */
export class WrittenArguments {
  text = ""
  private at = 0
  private depth = 0
  private isInString = false
  private isEscaped = false
  private isClosed = false

  /** The text has one object that ends, and nothing but white space after it. */
  get isWhole(): boolean {
    for (; this.at < this.text.length; this.at++) this.look(this.text.charAt(this.at))
    return this.isClosed
  }

  private look(character: string): void {
    if (this.isEscaped) this.isEscaped = false
    else if (this.isInString) {
      if (character === "\\") this.isEscaped = true
      else if (character === '"') this.isInString = false
    } else if (character === '"') this.isInString = true
    else if (character === "{" || character === "[") this.depth++
    else if (character === "}" || character === "]") {
      this.depth--
      this.isClosed = this.depth === 0
      return
    }
    if (this.isClosed && !/\s/.test(character)) this.isClosed = false
  }
}
