import { Button, Group } from "@mantine/core"
import { memo, useContext } from "react"
import { CopyText } from "../../parts/CopyText.tsx"
import { loadedWhenShown } from "../../parts/loadedWhenShown.tsx"
import { SaveAsArtifact } from "./artifacts/saving.ts"
import type { Inline } from "./inline.ts"
import { type Block, blocksOf, sourcesOf } from "./markdown.ts"

const Highlighted = loadedWhenShown(() => import("./Highlighted.tsx"))

interface MarkdownProps {
  readonly text: string
  /** More may be appended: the last block is shown without colours, which would change under the eyes. */
  readonly isGrowing: boolean
}

/** What a model has written, each block in the direction of its script. Of a text that grows, only the last is rendered anew. */
export const Markdown = ({ isGrowing, text }: MarkdownProps) => {
  const sources = sourcesOf(text)
  return (
    <div className="markdown">
      {sources.map((source, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only ever appended
        <Source key={index} source={source} isLast={isGrowing && index === sources.length - 1} />
      ))}
    </div>
  )
}

const Source = memo(({ isLast, source }: { readonly source: string; readonly isLast: boolean }) => (
  <Blocks of={blocksOf(source)} isPlain={isLast} />
))

const Blocks = ({ isPlain, of }: { readonly of: ReadonlyArray<Block>; readonly isPlain: boolean }) =>
  // biome-ignore lint/suspicious/noArrayIndexKey: the tree of one source does not change
  of.map((block, index) => <OneBlock key={index} of={block} isPlain={isPlain} />)

const OneBlock = ({ isPlain, of }: { readonly of: Block; readonly isPlain: boolean }) => {
  switch (of.kind) {
    case "code":
      return <Code {...of} isPlain={isPlain} />
    case "heading": {
      // the page has its own first and second level
      const Level = `h${Math.min(6, of.level + 2)}` as "h3" | "h4" | "h5" | "h6"
      return (
        <Level>
          <Inlines of={of.of} />
        </Level>
      )
    }
    case "paragraph":
      return (
        <p>
          <Inlines of={of.of} />
        </p>
      )
    case "quote":
      return (
        <blockquote dir="auto">
          <Blocks of={of.of} isPlain={isPlain} />
        </blockquote>
      )
    case "rule":
      return <hr />
    case "list": {
      const items = of.items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the tree of one source does not change
        <li key={index}>
          <Blocks of={item} isPlain={isPlain} />
        </li>
      ))
      return of.isOrdered ? (
        <ol start={of.start} dir="auto">
          {items}
        </ol>
      ) : (
        <ul dir="auto">{items}</ul>
      )
    }
    case "table":
      return <MarkdownTable {...of} />
  }
}

const MarkdownTable = ({ head, rows }: Extract<Block, { readonly kind: "table" }>) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
  <div className="markdown-table" tabIndex={0} role="region" aria-label="Table of the answer">
    <table dir="auto">
      <thead>
        <tr>
          {head.map((cell, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the tree of one source does not change
            <th key={index}>
              <Inlines of={cell} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the tree of one source does not change
          <tr key={index}>
            {row.map((cell, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the tree of one source does not change
              <td key={column}>
                <Inlines of={cell} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

interface CodeProps {
  readonly language: string
  readonly text: string
  readonly isPlain: boolean
}

const Code = ({ isPlain, language, text }: CodeProps) => {
  const save = useContext(SaveAsArtifact)
  return (
    <div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
      <pre tabIndex={0} role="region" aria-label={language === "" ? "Code" : `Code, ${language}`}>
        <code>{isPlain ? text : <Highlighted isOptional fallback={text} language={language} text={text} />}</code>
      </pre>
      <Group gap="xs">
        <CopyText label="Copy" text={text} />
        {save === undefined || isPlain || text === "" ? null : (
          <Button size="compact-xs" variant="default" onClick={() => save({ content: text, language })}>
            Save as artifact
          </Button>
        )}
      </Group>
    </div>
  )
}

const Inlines = ({ of }: { readonly of: ReadonlyArray<Inline> }) =>
  // biome-ignore lint/suspicious/noArrayIndexKey: the tree of one source does not change
  of.map((node, index) => <OneInline key={index} of={node} />)

const OneInline = ({ of }: { readonly of: Inline }) => {
  switch (of.kind) {
    case "text":
      return of.text
    case "code":
      return <code className="mono">{of.text}</code>
    case "break":
      return <br />
    case "blocked":
      return <span>{of.text} [blocked]</span>
    case "link":
      return (
        <a href={of.href} target="_blank" rel="noopener noreferrer nofollow">
          <Inlines of={of.of} /> ({of.host})
        </a>
      )
    case "strong":
    case "em":
    case "del": {
      const Element = of.kind
      return (
        <Element>
          <Inlines of={of.of} />
        </Element>
      )
    }
  }
}
