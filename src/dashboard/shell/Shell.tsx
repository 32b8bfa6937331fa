import {
  ActionIcon,
  Burger,
  Button,
  Group,
  Kbd,
  Text,
  useComputedColorScheme,
  useMantineColorScheme
} from "@mantine/core"
import { useDisclosure } from "@mantine/hooks"
import { CodeIcon, MoonIcon, QuestionIcon, SearchIcon, SunIcon } from "@primer/octicons-react"
import { useQuery } from "@tanstack/react-query"
import { Link, Outlet, useLocation, useNavigate, useRouterState } from "@tanstack/react-router"
import { useEffect, useRef, useState, useSyncExternalStore } from "react"
import { me } from "../api/queries.ts"
import { loadedWhenShown } from "../parts/loadedWhenShown.tsx"
import { forgetOthers } from "../parts/personStorage.ts"
import { BalanceChip } from "./BalanceChip.tsx"
import { placeOf, useFilters } from "./filters.ts"
import { useKeys } from "./keys.ts"
import { ProjectSwitch } from "./ProjectSwitch.tsx"
import { adminPages, type NavPage, personPages, projectPages } from "./pages.ts"
import { rememberProject, useProjectId } from "./project.ts"
import { signInAwaited } from "./signInAgain.ts"
import { Unavailable } from "./Unavailable.tsx"
import { UserMenu } from "./UserMenu.tsx"

const ApiDrawer = loadedWhenShown(() => import("./ApiDrawer.tsx"))
const Palette = loadedWhenShown(() => import("./Palette.tsx"))
const KeyList = loadedWhenShown(() => import("./KeyList.tsx"))
const SignInAgain = loadedWhenShown(() => import("./SignInAgain.tsx"))
const DeletedConversation = loadedWhenShown(() => import("./DeletedConversation.tsx"))

/** The frame of every page: navigation, the project, the balance, and what opens over a page. */
export const Shell = () => {
  const [isNavOpen, nav] = useDisclosure()
  const [isApiOpen, api] = useDisclosure()
  const [isPaletteOpen, palette] = useDisclosure()
  const [areKeysOpen, keyList] = useDisclosure()
  const projectId = useProjectId()
  const path = useFilters(projectId)
  const { data } = useQuery(me)
  const isOperator = data?.roles.includes("operator") ?? false
  const navigate = useNavigate()
  const place = useLocation({ select: ({ pathname }) => pathname })
  const isSignInAwaited = useSyncExternalStore(signInAwaited.subscribe, signInAwaited.current)
  useOnePerson(data?.user.id)
  useFocusOfPage()

  useEffect(() => {
    if (projectId !== undefined) rememberProject(projectId)
  }, [projectId])
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault()
        palette.open()
      }
    }
    window.addEventListener("keydown", pressed)
    return () => window.removeEventListener("keydown", pressed)
  }, [palette.open])
  const goTo = (page: NavPage) => () => {
    if (page.isOfProject && projectId === undefined) return
    void navigate(placeOf(page, projectId, path))
  }
  const burger = useRef<HTMLButtonElement>(null)
  const closeNav = () => {
    nav.close()
    burger.current?.focus()
  }
  useKeys({
    ...(isNavOpen ? { Escape: closeNav } : {}),
    "?": keyList.open,
    ...Object.fromEntries([...projectPages, ...personPages].map((page) => [`g ${page.key}`, goTo(page)]))
  })

  const link = (page: NavPage) => (
    <Link
      key={page.to}
      {...placeOf(page, projectId, path)}
      className="nav-link"
      activeOptions={{ exact: page.isExact ?? false, includeSearch: false }}
      onClick={nav.close}
      disabled={page.isOfProject && projectId === undefined}
    >
      <page.Icon size={16} />
      {page.label}
    </Link>
  )

  return (
    <div className="shell">
      <a href="#main" className="skip-link">
        Skip to the content
      </a>
      <header className="shell-header">
        <Group gap="xs" wrap="nowrap" style={{ minWidth: 0 }}>
          <Burger
            ref={burger}
            opened={isNavOpen}
            onClick={nav.toggle}
            hiddenFrom="sm"
            size="sm"
            aria-label={isNavOpen ? "Close the navigation" : "Open the navigation"}
            aria-expanded={isNavOpen}
          />
          <Text fw={700} visibleFrom="sm">
            Gateway
          </Text>
          <ProjectSwitch projectId={projectId} />
        </Group>
        <Group gap={6} wrap="nowrap">
          <BalanceChip />
          <Button
            variant="default"
            size="xs"
            onClick={palette.open}
            leftSection={<SearchIcon />}
            rightSection={<Kbd size="xs">Ctrl K</Kbd>}
            visibleFrom="md"
          >
            Go to
          </Button>
          <ActionIcon
            variant="default"
            size="lg"
            title="API calls of this page"
            aria-label="API calls of this page"
            onClick={api.open}
            visibleFrom="xs"
          >
            <CodeIcon />
          </ActionIcon>
          <ActionIcon
            variant="default"
            size="lg"
            title="Keyboard (?)"
            aria-label="Keyboard shortcuts"
            onClick={keyList.open}
            visibleFrom="sm"
          >
            <QuestionIcon />
          </ActionIcon>
          <SchemeSwitch />
          <UserMenu />
        </Group>
      </header>
      <nav className="shell-nav" aria-label="Pages" data-open={isNavOpen}>
        {projectPages.map(link)}
        <hr />
        {personPages.map(link)}
        {isOperator ? adminPages.map(link) : null}
      </nav>
      <main className="shell-main" id="main" tabIndex={-1}>
        <Unavailable />
        <Deleted key={place} />
        <Outlet />
      </main>
      {isApiOpen ? <ApiDrawer onClose={api.close} /> : null}
      {isPaletteOpen ? <Palette onClose={palette.close} projectId={projectId} isOperator={isOperator} /> : null}
      {areKeysOpen ? <KeyList onClose={keyList.close} /> : null}
      {isSignInAwaited ? <SignInAgain /> : null}
    </div>
  )
}

/** The conversation that was deleted last, as long as the page stays the same: its filters may change. */
const Deleted = () => {
  const latest = useLocation({ select: ({ state }) => state.deleted })
  const [deleted, setDeleted] = useState(latest)
  if (latest !== undefined && latest.id !== deleted?.id) setDeleted(latest)
  return deleted === undefined ? null : <DeletedConversation key={deleted.id} {...deleted} />
}

/** Where another person has signed in, in another tab, nothing that the page holds of the one before is shown. */
const useOnePerson = (person: string | undefined): void => {
  const first = useRef(person)
  const navigate = useNavigate()
  useEffect(() => {
    if (person === undefined) return
    first.current ??= person
    if (person === first.current) forgetOthers()
    else void navigate({ to: "/", reloadDocument: true, replace: true, ignoreBlocker: true })
  }, [person, navigate])
}

/** What has led to another page may have gone with the page before: the focus then is with the new one. */
const useFocusOfPage = (): void => {
  const shown = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  const before = useRef(shown)
  useEffect(() => {
    const isFirst = before.current === undefined
    before.current = shown
    if (!isFirst && document.activeElement === document.body)
      document.getElementById("main")?.focus({ preventScroll: true })
  }, [shown])
}

const SchemeSwitch = () => {
  const scheme = useComputedColorScheme("light")
  const { setColorScheme } = useMantineColorScheme()
  const other = scheme === "dark" ? "light" : "dark"
  return (
    <ActionIcon
      variant="default"
      size="lg"
      aria-label={`Use ${other} colours`}
      onClick={() => setColorScheme(other)}
      visibleFrom="xs"
    >
      {scheme === "dark" ? <SunIcon /> : <MoonIcon />}
    </ActionIcon>
  )
}
