import type { AudioDelta, ChatEvent, Finish } from "../domain/ChatEvent.ts"
import { completionTokens, isCounted, promptTokens, type Usage } from "../domain/Usage.ts"
import * as TokenEstimator from "../ledger/TokenEstimator.ts"

/** Opaque data, such as encrypted reasoning: far more characters than the tokens that it stands for. */
const encryptedCharactersPerToken = 4
/** Streamed audio is uncompressed: 24,000 samples of 16 bits a second, 20 tokens, in base64. */
const audioCharactersPerToken = 3_200

/** Adds up what one attempt's response has used. One instance per attempt, so that nothing is carried to the next one. */
export class ResponseTally {
  /** As the provider reported it; the last report counts. */
  usage: Usage | undefined
  /** The model's name as the provider reports it. */
  servedModel: string | undefined
  /** The service tier that the provider reports. */
  servedTier: string | undefined
  finished: Finish | undefined
  /** It was ended at the end of its hold. */
  isCutByFunds = false
  /** Its request was never sent, or was refused. */
  isUnbillable = false
  /** UTF-16 units of all that counts as output. */
  characters = 0
  private readonly text = TokenEstimator.counter()
  private encryptedCharacters = 0
  private audioCharacters = 0
  /** Estimated tokens that the last reported usage covers. */
  private reportedTokens = 0
  /** Output has come since usage was last reported. */
  private hasUnreported = true

  add(event: ChatEvent): void {
    switch (event._tag) {
      case "Text":
      case "Refusal":
        this.addText(event.text)
        return
      case "Reasoning":
        if (event.kind === "encrypted") this.addEncrypted(event.text)
        else this.addText(event.text)
        return
      case "ToolCall":
        if (event.name !== undefined) this.addText(event.name)
        this.addText(event.arguments)
        return
      case "Usage":
        this.report(event.usage)
        return
      case "ResponseInfo":
        if (event.model !== undefined) this.servedModel = event.model
        if (event.serviceTier !== undefined) this.servedTier = event.serviceTier
        return
      case "Finish":
        this.finished ??= event
        return
      case "Audio":
        this.addAudio(event.audio)
        return
      case "Annotation":
        return
    }
  }

  /**
   * Some servers send zeros for what they have not counted, with each piece of a stream or at its end; and a provider of the
   * application may have computed NaN or a fraction.
   */
  private report(usage: Usage): void {
    if (!isCounted(usage)) return
    const completion = completionTokens(usage)
    if (completion === 0 && promptTokens(usage) === 0) return
    this.usage = usage
    this.hasUnreported = completion === 0
    this.reportedTokens = 0
  }

  private addText(text: string): void {
    this.outputFollows()
    this.characters += text.length
    this.text.add(text)
  }

  private addAudio({ data, transcript }: AudioDelta["audio"]): void {
    if (typeof transcript === "string") this.addText(transcript)
    if (typeof data !== "string") return
    this.outputFollows()
    this.characters += data.length
    this.audioCharacters += data.length
  }

  private addEncrypted(text: string): void {
    this.outputFollows()
    this.encryptedCharacters += text.length
  }

  /** Most providers report usage last: only output after a report has to be told apart from what it covers. */
  private outputFollows(): void {
    if (this.hasUnreported) return
    this.hasUnreported = true
    this.reportedTokens = this.tokens
  }

  /** Likely tokens of text, reasoning, tool calls and audio so far. */
  get tokens(): number {
    return Math.ceil(this.text.tokens() + this.encryptedCharacters / encryptedCharactersPerToken) + this.audioTokens
  }

  /** Likely tokens of audio so far. */
  get audioTokens(): number {
    return Math.ceil(this.audioCharacters / audioCharactersPerToken)
  }

  /** Likely tokens that no reported usage covers yet. */
  get unreportedTokens(): number {
    return this.hasUnreported ? this.tokens - this.reportedTokens : 0
  }
}
