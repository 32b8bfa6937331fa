import {
  BeakerIcon,
  BellIcon,
  CommentDiscussionIcon,
  CpuIcon,
  CreditCardIcon,
  GearIcon,
  GraphIcon,
  HomeIcon,
  type Icon,
  KeyIcon,
  ListUnorderedIcon,
  PlugIcon,
  ShieldCheckIcon,
  ShieldLockIcon,
  WorkflowIcon
} from "@primer/octicons-react"

export interface NavPage {
  readonly to: string
  readonly label: string
  /** After `g`. */
  readonly key: string
  readonly Icon: Icon
  readonly isOfProject: boolean
  readonly isExact?: boolean
  /** What stands in its search string for as long as a session: not what is open in it. */
  readonly filters?: ReadonlyArray<string>
}

/** What the navigation, the palette and the keys lead to. */
export const projectPages: ReadonlyArray<NavPage> = [
  {
    to: "/p/$projectId",
    label: "Overview",
    key: "o",
    Icon: HomeIcon,
    isOfProject: true,
    isExact: true,
    filters: ["days", "show"]
  },
  {
    to: "/p/$projectId/requests",
    label: "Requests",
    key: "r",
    Icon: ListUnorderedIcon,
    isOfProject: true,
    filters: ["status", "model", "provider", "key", "q", "range", "since", "live"]
  },
  {
    to: "/p/$projectId/activity",
    label: "Activity",
    key: "a",
    Icon: GraphIcon,
    isOfProject: true,
    filters: ["days", "by"]
  },
  { to: "/p/$projectId/keys", label: "Keys", key: "k", Icon: KeyIcon, isOfProject: true },
  { to: "/p/$projectId/routing", label: "Routing", key: "t", Icon: WorkflowIcon, isOfProject: true },
  { to: "/p/$projectId/policy", label: "Policy", key: "p", Icon: ShieldCheckIcon, isOfProject: true },
  {
    to: "/p/$projectId/models",
    label: "Models",
    key: "m",
    Icon: CpuIcon,
    isOfProject: true,
    filters: ["q", "provider", "sort", "compare"]
  },
  { to: "/p/$projectId/providers", label: "Providers", key: "v", Icon: PlugIcon, isOfProject: true },
  { to: "/p/$projectId/analyses", label: "Token doctor", key: "n", Icon: BeakerIcon, isOfProject: true },
  { to: "/p/$projectId/alerts", label: "Alerts", key: "l", Icon: BellIcon, isOfProject: true }
]

export const personPages: ReadonlyArray<NavPage> = [
  { to: "/chat", label: "Chat", key: "h", Icon: CommentDiscussionIcon, isOfProject: false },
  { to: "/credits", label: "Credits", key: "c", Icon: CreditCardIcon, isOfProject: false },
  { to: "/settings", label: "Settings", key: "s", Icon: GearIcon, isOfProject: false }
]

export const adminPages: ReadonlyArray<NavPage> = [
  { to: "/admin", label: "Admin", key: "d", Icon: ShieldLockIcon, isOfProject: false }
]
