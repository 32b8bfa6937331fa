import { NavLink, Stack, Text, TextInput } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { type KeyboardEvent, useId, useState } from "react"
import { catalog, projects } from "../api/queries.ts"
import { Modal } from "../parts/Dialog.tsx"
import { placeOf } from "./filters.ts"
import { adminPages, personPages, projectPages } from "./pages.ts"

interface PaletteProps {
  readonly onClose: () => void
  readonly projectId: string | undefined
  readonly isOperator: boolean
}

interface Target {
  readonly id: string
  readonly label: string
  readonly kind: string
  readonly go: () => void
}

const maxShown = 12
/** Also as the `id` of a response has it. */
const requestId = /^(?:chatcmpl-|resp_|msg_)?[0-9a-f]{8}-?[0-9a-f]{4}-?7[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i

/** Everything that can be gone to, by a few letters of its name; a request by its id. */
const Palette = ({ isOperator, onClose, projectId }: PaletteProps) => {
  const [text, setText] = useState("")
  const [at, setAt] = useState(0)
  const navigate = useNavigate()
  const known = useQuery(projects)
  const models = useQuery(catalog(projectId))
  const id = projectId ?? ""
  const wanted = text.trim()

  const ofProject = projectId === undefined ? [] : projectPages
  const pages = [...ofProject, ...personPages, ...(isOperator ? adminPages : [])]
  const targets: ReadonlyArray<Target> = [
    ...(requestId.test(wanted)
      ? [
          {
            id: wanted,
            label: `Request ${wanted}`,
            kind: "request",
            go: () => void navigate({ to: "/requests/$requestId", params: { requestId: wanted } })
          }
        ]
      : []),
    ...pages.map((page) => ({
      id: page.to,
      label: page.label,
      kind: "page",
      go: () => void navigate(placeOf(page, projectId))
    })),
    ...(known.data ?? []).map((project) => ({
      id: project.id,
      label: project.name,
      kind: "project",
      go: () => void navigate({ to: "/p/$projectId", params: { projectId: project.id } })
    })),
    ...(models.data ?? []).map((model) => ({
      id: model.id,
      label: model.id,
      kind: "model",
      go: () => void navigate({ to: "/p/$projectId/models", params: { projectId: id }, search: { q: model.id } })
    }))
  ]
  const shown = targets
    .filter(({ id, label }) => id === wanted || label.toLowerCase().includes(wanted.toLowerCase()))
    .slice(0, maxShown)
  const listId = useId()
  const optionId = (index: number) => `${listId}-${index}`
  const choose = (target: Target | undefined) => {
    if (target === undefined) return
    onClose()
    target.go()
  }
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt(Math.max(0, Math.min(at + 1, shown.length - 1)))
    else if (event.key === "ArrowUp") setAt(Math.max(at - 1, 0))
    else if (event.key === "Enter") choose(shown[at])
    else return
    event.preventDefault()
  }
  return (
    <Modal opened onClose={onClose} title="Go to" yOffset="10dvh" centered={false}>
      <Stack gap="xs">
        {/* the field keeps the focus: the arrow keys choose among the options below it */}
        <TextInput
          role="combobox"
          aria-label="Page, project, model or request id"
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-expanded={shown.length > 0}
          aria-controls={listId}
          aria-activedescendant={at < shown.length ? optionId(at) : undefined}
          autoComplete="off"
          placeholder="Page, project, model or request id"
          value={text}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value)
            setAt(0)
          }}
          onKeyDown={pressed}
          data-autofocus
        />
        <div id={listId} role="listbox" aria-label="Results" style={{ maxHeight: "50dvh", overflowY: "auto" }}>
          {shown.map((target, index) => (
            <NavLink
              key={`${target.kind} ${target.id}`}
              ref={index === at ? (line: HTMLElement | null) => line?.scrollIntoView({ block: "nearest" }) : null}
              component="div"
              id={optionId(index)}
              role="option"
              aria-selected={index === at}
              label={target.label}
              active={index === at}
              rightSection={
                <Text size="xs" c="dimmed">
                  {target.kind}
                </Text>
              }
              onClick={() => choose(target)}
            />
          ))}
        </div>
        <Text size="sm" c="dimmed" role="status">
          {shown.length > 0 ? "" : known.isPending || models.isPending ? "Loading" : "No results."}
        </Text>
      </Stack>
    </Modal>
  )
}

export default Palette
