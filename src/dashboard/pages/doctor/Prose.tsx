/** Text of the service with its code in backticks. */
export const Prose = ({ text }: { readonly text: string }) =>
  text.split("`").map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text do not change
      <code key={index} className="mono">
        {part}
      </code>
    )
  )
