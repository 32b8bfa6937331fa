import "./styles.ts"
import { MantineProvider } from "@mantine/core"
import { QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { setNonce } from "get-nonce"
import { createRoot } from "react-dom/client"
import { queryClient } from "./api/queryClient.ts"
import { whenSignedInElsewhere, whenSignedOut } from "./api/session.ts"
import { hasUnsavedForm } from "./parts/unsaved.ts"
import { reloadIfReplaced } from "./replaced.ts"
import { router } from "./router.tsx"
import { keepFocus } from "./shell/keepFocus.ts"
import { awaitSignIn } from "./shell/signInAgain.ts"
import { cssVariables, theme } from "./theme.ts"

/** Of this response: the policy lets only style elements that carry it take effect. */
const nonce = document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? ""
// for the library that keeps the page from scrolling under a dialog
setNonce(nonce)

whenSignedOut((mayLose) => {
  const isKept = !mayLose && hasUnsavedForm()
  awaitSignIn(isKept)
  if (isKept) return
  queryClient.clear()
  const { href, pathname } = router.state.location
  if (pathname !== "/sign-in")
    void router.navigate({ to: "/sign-in", search: { return_to: href }, ignoreBlocker: true })
})

whenSignedInElsewhere(() => {
  awaitSignIn(false)
  // which has no session to wait for any more
  if (router.state.location.pathname === "/sign-in") return location.reload()
  // what is shown may be another person's
  queryClient.removeQueries({ type: "inactive" })
  void queryClient.invalidateQueries()
})

// fails where the service was replaced while the page was open: what the page has not loaded yet has other names then
addEventListener("vite:preloadError", () => void reloadIfReplaced())

keepFocus()

const root = document.getElementById("root")
if (root === null) throw new Error("index.html has the root")
createRoot(root).render(
  <MantineProvider
    theme={theme}
    cssVariablesResolver={cssVariables}
    defaultColorScheme="auto"
    getStyleNonce={() => nonce}
  >
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </MantineProvider>
)
