import { useQuery } from "@tanstack/react-query"
import { Loaded } from "../../../parts/Block.tsx"
import { CopyText } from "../../../parts/CopyText.tsx"
import { loadedWhenShown } from "../../../parts/loadedWhenShown.tsx"
import type { Artifact } from "../conversation.ts"
import { content, languageOf } from "./content.ts"

const Highlighted = loadedWhenShown(() => import("../Highlighted.tsx"))

/** A version as text. */
export const ArtifactCode = ({ of }: { readonly of: Artifact }) => (
  <Loaded query={useQuery(content(of))} height={300}>
    {(text) => (
      <>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
        <pre className="chat-code" tabIndex={0} role="region" aria-label={`Text of ${of.name}`}>
          <Highlighted isOptional fallback={text} language={languageOf(of)} text={readable(of, text)} />
        </pre>
        <div>
          <CopyText label="Copy" text={text} />
        </div>
      </>
    )}
  </Loaded>
)

/** JSON in lines, where it is valid. */
const readable = ({ media_type }: Artifact, text: string): string => {
  if (media_type !== "application/json") return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
