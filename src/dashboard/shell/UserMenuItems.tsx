import { Menu, useComputedColorScheme, useMantineColorScheme } from "@mantine/core"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { client } from "../api/client.ts"
import { me } from "../api/queries.ts"
import { forgetPageToken } from "../api/session.ts"
import { UserButton } from "./UserButton.tsx"
import { useOpenedMenu } from "./useOpenedMenu.ts"

const UserMenuItems = () => {
  const { data } = useQuery(me)
  const navigate = useNavigate()
  const queries = useQueryClient()
  const scheme = useComputedColorScheme("light")
  const { setColorScheme } = useMantineColorScheme()
  const { menu, target } = useOpenedMenu()
  const signOut = async () => {
    await client.DELETE("/api/session", {})
    forgetPageToken()
    queries.clear()
    await navigate({ to: "/sign-in" })
  }
  return (
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
        <Menu.Item onClick={() => void signOut()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

export default UserMenuItems
