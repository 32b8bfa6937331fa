import { Button, Group, Stack, Text } from "@mantine/core"
import { Failure } from "../../parts/Failure.tsx"
import { type Attachments, maxImages } from "./useAttachments.ts"

/** The images that the next question has; one that the service refuses keeps the question from being sent. */
const AttachmentList = ({ of }: { readonly of: Attachments }) => (
  <Stack gap="xs">
    <Group gap="xs" role="list" aria-label="Images of the question">
      {of.list.map(({ error, image, key, name, preview }) => (
        <div key={key} role="listitem" className="chat-attachment" data-state={image === undefined ? "sent" : "taken"}>
          {error === null ? <img src={preview} alt={name} /> : null}
          <Text size="xs" truncate maw={120}>
            {name}
          </Text>
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Remove ${name}`}
            onClick={({ currentTarget, detail: clicks }) => {
              // it goes; pressed by a key it leaves the focus where the question is written
              if (clicks === 0) currentTarget.closest("[aria-label=Question]")?.querySelector("textarea")?.focus()
              of.remove(key)
            }}
          >
            Remove
          </Button>
        </div>
      ))}
    </Group>
    {of.leftOut === 0 ? null : (
      <Text size="xs" role="status">
        A question has at most {maxImages} images: {of.leftOut} {of.leftOut === 1 ? "was" : "were"} not attached.
      </Text>
    )}
    {of.list.map(({ error, key }) => (error === null ? null : <Failure key={key} error={error} />))}
  </Stack>
)

export default AttachmentList
