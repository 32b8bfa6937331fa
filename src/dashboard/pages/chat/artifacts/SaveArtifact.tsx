import { Select, Text, TextInput } from "@mantine/core"
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { client, take } from "../../../api/client.ts"
import { FormDialog } from "../../../parts/FormDialog.tsx"
import { fieldErrors } from "../../../parts/fieldErrors.ts"
import { useIdempotencyKeys } from "../../../parts/useIdempotencyKeys.ts"
import { useIsShown } from "../../../parts/useIsShown.ts"
import type { Artifact } from "../conversation.ts"
import { mediaTypeOf, mediaTypes, nameOf, type Part } from "./saving.ts"

interface SaveArtifactProps {
  readonly conversationId: string
  readonly part: Part
  /** Of the conversation, in their last version. */
  readonly artifacts: ReadonlyArray<Artifact>
  readonly onSaved: (artifact: Artifact) => void
  readonly onClose: () => void
}

/** Keeps a part of an answer as an artifact: a new one, or the next version of one. */
const SaveArtifact = ({ artifacts, conversationId, onClose, onSaved, part }: SaveArtifactProps) => {
  const [name, setName] = useState(() => nameOf(part))
  const [chosen, choose] = useState<string | null>(null)
  const mediaType = chosen ?? mediaTypeOf(name)
  const before = artifacts.find((artifact) => artifact.name === name)
  const keys = useIdempotencyKeys()
  const isShown = useIsShown()
  const save = useMutation({
    mutationFn: () =>
      take(
        client.POST("/api/chat/conversations/{id}/artifacts", {
          params: { path: { id: conversationId }, header: keys.headerOf(name, mediaType) },
          body: { name, media_type: mediaType, content: part.content }
        })
      ),
    onSuccess: (saved) => {
      if (isShown()) onSaved(saved)
    }
  })
  const errors = fieldErrors(save.error, { name: "name", media_type: "type" })
  return (
    <FormDialog
      title="Save as artifact"
      submit={before === undefined ? "Save" : `Save as v${before.version + 1}`}
      isChanged={name !== nameOf(part) || chosen !== null}
      sending={save}
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate()
      }}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        error={errors["name"]}
        maxLength={200}
        required
        data-autofocus
      />
      <Select
        label="Type"
        data={mediaTypes.includes(mediaType) ? [...mediaTypes] : [mediaType, ...mediaTypes]}
        value={mediaType}
        onChange={choose}
        error={errors["type"]}
        allowDeselect={false}
      />
      <Text size="sm" c="dimmed">
        {before === undefined
          ? "It stands beside the conversation, and can be looked at, downloaded and shown in its versions."
          : `The conversation has ${name} already, in version ${before.version}, which stays in its history.`}
      </Text>
    </FormDialog>
  )
}

export default SaveArtifact
