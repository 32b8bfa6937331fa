import { Code, Group, Tabs } from "@mantine/core"
import { CopyIconButton } from "../../parts/CopyText.tsx"
import { snippets } from "./snippetTexts.ts"

/** How a program calls, ready to paste. */
export const Snippets = ({ secret }: { readonly secret: string }) => (
  <Tabs defaultValue="curl" keepMounted={false}>
    <Tabs.List aria-label="Client">
      {Object.keys(snippets).map((name) => (
        <Tabs.Tab key={name} value={name}>
          {name}
        </Tabs.Tab>
      ))}
    </Tabs.List>
    {Object.entries(snippets).map(([name, text]) => (
      <Tabs.Panel key={name} value={name} pt="xs">
        <Group wrap="nowrap" align="flex-start" gap="xs">
          <Code block style={{ flex: 1, whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
            {text(secret)}
          </Code>
          <CopyIconButton label="Copy the snippet" text={text(secret)} />
        </Group>
      </Tabs.Panel>
    ))}
  </Tabs>
)
