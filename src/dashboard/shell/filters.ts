import { useRouterState } from "@tanstack/react-router"
import { useEffect } from "react"
import { type NavPage, projectPages } from "./pages.ts"

type Filters = Readonly<Record<string, unknown>>

/** How the pages of projects were filtered when they were last shown, by their path; a sign-in begins without. */
const filtered = new Map<string, Filters>()
/** The range of days, which the pages that have one share. */
let period: Filters = {}

const pathOf = ({ to }: NavPage, projectId: string): string => to.replace("$projectId", projectId)

const named = (all: Filters, names: ReadonlyArray<string>): Filters =>
  Object.fromEntries(names.filter((name) => all[name] !== undefined).map((name) => [name, all[name]]))

/** Remembers the filters of the page that is shown; returns its path. */
export const useFilters = (projectId = ""): string => {
  const { pathname, search } = useRouterState({ select: ({ location }) => location })
  useEffect(() => {
    const page = projectPages.find((each) => pathOf(each, projectId) === pathname)
    if (page?.filters === undefined) return
    filtered.set(pathname, named(search, page.filters))
    if (page.filters.includes("days")) period = named(search, ["days"])
  }, [projectId, pathname, search])
  return pathname
}

/** Where a page of the navigation is: as it was filtered, and anew from the page itself. */
export const placeOf = (page: NavPage, projectId = "", shown?: string) => {
  const path = pathOf(page, projectId)
  const kept = path === shown ? {} : named({ ...filtered.get(path), ...period }, page.filters ?? [])
  return { to: page.to, params: { projectId }, search: kept }
}
