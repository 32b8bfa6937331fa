import { Menu, Modal, useComputedColorScheme, useMantineColorScheme } from "@mantine/core"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { client, take } from "../api/client.ts"
import { asFailure } from "../api/failure.ts"
import { me } from "../api/queries.ts"
import { forgetPageToken } from "../api/session.ts"
import { LeavingQuestion } from "../parts/AskBeforeLeaving.tsx"
import { Failure } from "../parts/Failure.tsx"
import { forgetOthers } from "../parts/personStorage.ts"
import { hasUnsavedForm } from "../parts/unsaved.ts"
import { hasDraft } from "../parts/useDraft.ts"
import { UserButton } from "./UserButton.tsx"
import { useOpenedMenu } from "./useOpenedMenu.ts"

const UserMenuItems = () => {
  const { data } = useQuery(me)
  const navigate = useNavigate()
  const queries = useQueryClient()
  const scheme = useComputedColorScheme("light")
  const { setColorScheme } = useMantineColorScheme()
  const { menu, target } = useOpenedMenu()
  const [isAsked, ask] = useState(false)
  const signOut = useMutation({
    mutationFn: async () => {
      try {
        await take(client.DELETE("/api/session", {}))
      } catch (thrown) {
        // the session has ended already
        if (asFailure(thrown).status !== 401) throw thrown
      }
      forgetPageToken()
      queries.clear()
      // nobody is signed in any more: of everybody
      forgetOthers()
      await navigate({ to: "/sign-in", ignoreBlocker: true })
    }
  })
  return (
    <>
      <Menu position="bottom-end" width={200} {...menu}>
        <Menu.Target>
          <UserButton ref={target} />
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{data?.user.name ?? "…"}</Menu.Label>
          <Menu.Item onClick={() => void navigate({ to: "/settings" })}>Settings</Menu.Item>
          <Menu.Item onClick={() => setColorScheme(scheme === "dark" ? "light" : "dark")}>
            {scheme === "dark" ? "Light" : "Dark"} colours
          </Menu.Item>
          <Menu.Item onClick={() => (hasUnsavedForm() || hasDraft() ? ask(true) : signOut.mutate())}>
            Sign out
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isAsked ? (
        <LeavingQuestion
          onStay={() => ask(false)}
          onLeave={() => {
            ask(false)
            signOut.mutate()
          }}
        />
      ) : null}
      <Modal opened={signOut.isError} onClose={signOut.reset} title="You are still signed in">
        <Failure error={signOut.error} retry={signOut.mutate} />
      </Modal>
    </>
  )
}

export default UserMenuItems
