import { Tabs } from "@mantine/core"
import { useInfiniteQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useMemo, useState } from "react"
import type { Records } from "../../api/client.ts"
import { allProjects, users } from "../../api/queries.ts"
import { Block, Loaded } from "../../parts/Block.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { money, relative } from "../../parts/format.ts"
import { loadedWhenShown } from "../../parts/loadedWhenShown.tsx"
import { Page } from "../../parts/Page.tsx"
import { Status } from "../../parts/Status.tsx"
import { Node } from "./Node.tsx"

const UserDrawer = loadedWhenShown(() => import("./UserDrawer.tsx"))

type User = Records["UserOut"]
type Project = Records["AdminProjectOut"]

/** For operators: everybody's accounts and projects, and the node that answers. */
const Admin = () => {
  const { tab = "users" } = useSearch({ from: "/shell/admin" })
  const navigate = useNavigate({ from: "/admin" })
  const [open, setOpen] = useState<User>()
  return (
    <Page title="Admin">
      <Node />
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(value) => void navigate({ search: value === "projects" ? { tab: "projects" } : {} })}
      >
        <Tabs.List aria-label="Admin">
          <Tabs.Tab value="users">People</Tabs.Tab>
          <Tabs.Tab value="projects">Projects</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="users" pt="sm">
          <Block>
            <Users onOpen={setOpen} />
          </Block>
        </Tabs.Panel>
        <Tabs.Panel value="projects" pt="sm">
          <Block>
            <Projects />
          </Block>
        </Tabs.Panel>
      </Tabs>
      {open === undefined ? null : <UserDrawer of={open} onClose={() => setOpen(undefined)} />}
    </Page>
  )
}

const Users = ({ onOpen }: { readonly onOpen: (user: User) => void }) => {
  const list = useInfiniteQuery(users)
  const rows = useMemo(() => list.data?.pages.flatMap(({ items }) => items) ?? [], [list.data])
  return (
    <Loaded query={list} height={200}>
      {() => (
        <DataTable
          label="People"
          columns={userColumns}
          rows={rows}
          keyOf={({ id }) => id}
          onOpen={onOpen}
          list={list}
        />
      )}
    </Loaded>
  )
}

const userColumns: ReadonlyArray<Column<User>> = [
  { id: "name", header: "Name", cell: ({ name }) => name },
  {
    id: "subject",
    header: "Signs in",
    from: "sm",
    cell: ({ issuer, subject }) => (issuer === null ? "by a link" : `${subject} at ${issuer}`)
  },
  {
    id: "operator",
    header: "Role",
    width: "6.5rem",
    cell: (of) => (of.is_operator ? <Status state="active" label="operator" /> : "person")
  },
  { id: "since", header: "Since", width: "6rem", cell: ({ created_at }) => relative(created_at) }
]

const Projects = () => {
  const list = useInfiniteQuery(allProjects)
  const rows = useMemo(() => list.data?.pages.flatMap(({ items }) => items) ?? [], [list.data])
  return (
    <Loaded query={list} height={200}>
      {() => <DataTable label="Projects" columns={projectColumns} rows={rows} keyOf={({ id }) => id} list={list} />}
    </Loaded>
  )
}

const projectColumns: ReadonlyArray<Column<Project>> = [
  { id: "name", header: "Name", cell: ({ name }) => name },
  { id: "account", header: "Account", width: "8rem", from: "md", cell: ({ account_id }) => `…${account_id.slice(-8)}` },
  {
    id: "mode",
    header: "Paid by",
    width: "9rem",
    from: "sm",
    cell: (of) => (of.billing_mode === "byok" ? "own credentials" : "balance")
  },
  { id: "spent", header: "Spent", width: "6rem", align: "right", cell: (of) => money(of.total_spent_microusd) },
  {
    id: "limit",
    header: "Limit",
    width: "6rem",
    align: "right",
    cell: (of) => (of.spend_limit_microusd === null ? "none" : money(of.spend_limit_microusd))
  },
  { id: "since", header: "Created", width: "7rem", from: "lg", cell: ({ created_at }) => relative(created_at) }
]

export default Admin
