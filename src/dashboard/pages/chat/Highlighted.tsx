import { tokensOf } from "./highlight.ts"

const Highlighted = ({ language, text }: { readonly language: string; readonly text: string }) =>
  tokensOf(text, language).map(({ kind, text: part }, index) =>
    kind === "plain" ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the tokens of one text do not change
      <span key={index} data-token={kind}>
        {part}
      </span>
    )
  )

export default Highlighted
