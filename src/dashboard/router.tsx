import { Loader } from "@mantine/core"
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect
} from "@tanstack/react-router"
import type { ComponentType } from "react"
import { unreachable } from "./api/failure.ts"
import { pageToken } from "./api/session.ts"
import { NotFound } from "./pages/NotFound.tsx"
import * as Search from "./search.ts"
import type { Deleted } from "./shell/DeletedConversation.tsx"
import { Home } from "./shell/Home.tsx"
import { PageFailure } from "./shell/PageFailure.tsx"
import { ProjectPages } from "./shell/ProjectPages.tsx"
import { Shell } from "./shell/Shell.tsx"

/** At the browser's own error the router loads everything anew, which a service that does not answer cannot serve. */
const lazyPage = (load: () => Promise<{ readonly default: ComponentType }>) =>
  lazyRouteComponent(() =>
    load().catch(() => {
      throw unreachable()
    })
  )

/** Every page is loaded when it is first opened; what stands in its search string is the state of its filters. */
const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound })

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: Search.signIn,
  component: lazyPage(() => import("./pages/SignIn.tsx"))
})

const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  component: Shell,
  beforeLoad: ({ location }) => {
    if (pageToken() === null) throw redirect({ to: "/sign-in", search: { return_to: location.href } })
  }
})

const home = createRoute({ getParentRoute: () => shell, path: "/", component: Home })
const project = createRoute({
  getParentRoute: () => shell,
  path: "/p/$projectId",
  component: ProjectPages,
  // nothing that was typed, opened or sent in one project goes on in the next
  remountDeps: ({ params }) => params
})

const overview = createRoute({
  getParentRoute: () => project,
  path: "/",
  validateSearch: Search.overview,
  component: lazyPage(() => import("./pages/overview/Overview.tsx"))
})
const keys = createRoute({
  getParentRoute: () => project,
  path: "/keys",
  validateSearch: Search.keys,
  component: lazyPage(() => import("./pages/keys/Keys.tsx"))
})
const requests = createRoute({
  getParentRoute: () => project,
  path: "/requests",
  validateSearch: Search.requests,
  component: lazyPage(() => import("./pages/requests/Requests.tsx"))
})
const request = createRoute({
  getParentRoute: () => shell,
  path: "/requests/$requestId",
  component: lazyPage(() => import("./pages/requests/RequestPage.tsx"))
})
const activity = createRoute({
  getParentRoute: () => project,
  path: "/activity",
  validateSearch: Search.activity,
  component: lazyPage(() => import("./pages/activity/Activity.tsx"))
})
const routing = createRoute({
  getParentRoute: () => project,
  path: "/routing",
  validateSearch: Search.routing,
  component: lazyPage(() => import("./pages/routing/Routing.tsx"))
})
const routingConfiguration = createRoute({
  getParentRoute: () => project,
  path: "/routing/$slug",
  component: lazyPage(() => import("./pages/routing/RoutingConfiguration.tsx"))
})
const policy = createRoute({
  getParentRoute: () => project,
  path: "/policy",
  component: lazyPage(() => import("./pages/policy/Policy.tsx"))
})
const models = createRoute({
  getParentRoute: () => project,
  path: "/models",
  validateSearch: Search.models,
  component: lazyPage(() => import("./pages/models/Models.tsx"))
})
const providers = createRoute({
  getParentRoute: () => project,
  path: "/providers",
  validateSearch: Search.providers,
  component: lazyPage(() => import("./pages/providers/Providers.tsx"))
})
const alerts = createRoute({
  getParentRoute: () => project,
  path: "/alerts",
  component: lazyPage(() => import("./pages/alerts/Alerts.tsx"))
})
const analyses = createRoute({
  getParentRoute: () => project,
  path: "/analyses",
  validateSearch: Search.analyses,
  component: lazyPage(() => import("./pages/doctor/Doctor.tsx"))
})
const analysis = createRoute({
  getParentRoute: () => project,
  path: "/analyses/$analysisId",
  component: lazyPage(() => import("./pages/doctor/Analysis.tsx"))
})
const credits = createRoute({
  getParentRoute: () => shell,
  path: "/credits",
  validateSearch: Search.credits,
  component: lazyPage(() => import("./pages/credits/Credits.tsx"))
})
const checkout = createRoute({
  getParentRoute: () => shell,
  path: "/checkout/$sessionId",
  component: lazyPage(() => import("./pages/credits/Checkout.tsx"))
})
const chat = createRoute({
  getParentRoute: () => shell,
  path: "/chat",
  component: lazyPage(() => import("./pages/chat/Chat.tsx"))
})
const conversation = createRoute({
  getParentRoute: () => shell,
  path: "/chat/$conversationId",
  validateSearch: Search.conversation,
  component: lazyPage(() => import("./pages/chat/Chat.tsx"))
})
const settings = createRoute({
  getParentRoute: () => shell,
  path: "/settings",
  validateSearch: Search.settings,
  component: lazyPage(() => import("./pages/settings/Settings.tsx"))
})
const admin = createRoute({
  getParentRoute: () => shell,
  path: "/admin",
  validateSearch: Search.admin,
  component: lazyPage(() => import("./pages/admin/Admin.tsx"))
})

const ofProject = [
  overview,
  requests,
  activity,
  keys,
  routing,
  routingConfiguration,
  policy,
  models,
  providers,
  analyses,
  analysis,
  alerts
] as const
const ofPerson = [home, request, chat, conversation, credits, checkout, settings, admin] as const
const routeTree = root.addChildren([signIn, shell.addChildren([...ofPerson, project.addChildren([...ofProject])])])

export const router = createRouter({
  routeTree,
  basepath: "/dashboard",
  defaultPreload: "intent",
  defaultPendingComponent: () => <Loader aria-hidden="true" />,
  defaultErrorComponent: PageFailure,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: true
})

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router
  }
  interface HistoryState {
    /** The page of a conversation follows that of its first question. */
    isBegun?: boolean
    /** A conversation that was deleted before this page, or while it was shown. */
    deleted?: Deleted
  }
}
