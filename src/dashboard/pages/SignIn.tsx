import { Anchor, Button, Center, Code, List, Loader, Paper, Stack, Text, Title } from "@mantine/core"
import { useDocumentTitle } from "@mantine/hooks"
import { useQueryClient } from "@tanstack/react-query"
import { useRouter, useSearch } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { client, take } from "../api/client.ts"
import { asFailure } from "../api/failure.ts"
import { keepPageToken, pageToken } from "../api/session.ts"
import { Failure } from "../parts/Failure.tsx"

/** The service says how people sign in: by its own links, or at an identity provider. */
const isAtIssuer = document.querySelector<HTMLMetaElement>("meta[name=gateway-sign-in]")?.content === "oidc"

/** The fragment is read once and removed from the address, so that no history keeps it. */
const fragment = new URLSearchParams(location.hash.slice(1))
if (location.hash !== "") history.replaceState(history.state, "", location.pathname + location.search)

/** A code works once: whoever renders the page again waits for the same exchange. */
let exchange: Promise<string> | undefined
const exchanged = (code: string): Promise<string> => {
  exchange ??= take(client.POST("/api/session", { body: { code, transport: "cookie" } })).then((session) => {
    if (!("csrf_token" in session)) throw new Error("The service did not answer with a page token.")
    return session.csrf_token
  })
  return exchange
}

/** Only a path of this app: an address from outside could lead anywhere. */
const returnPath = (to: string | undefined): string => (to?.startsWith("/") && !to.startsWith("//") ? to : "/")

/** Of this tab, while the person is at the identity provider. */
const returnKey = "gateway.return-to"
/** Back from there, in success or not, the address has no path to return to. */
const returnFromIssuer = (): string | undefined =>
  fragment.has("error") || fragment.has("csrf_token") ? (sessionStorage.getItem(returnKey) ?? undefined) : undefined
const keepForIssuer = (to: string | undefined): void => {
  if (to === undefined) sessionStorage.removeItem(returnKey)
  else sessionStorage.setItem(returnKey, to)
}

const SignIn = () => {
  useDocumentTitle("Sign in · Model routing gateway")
  const router = useRouter()
  const queries = useQueryClient()
  const search = useSearch({ from: "/sign-in" })
  const [returnTo] = useState(() => search.return_to ?? returnFromIssuer())
  const [error, setError] = useState<unknown>(null)
  const code = fragment.get("code")
  const tokenOfIssuer = fragment.get("csrf_token")
  const refusal = fragment.get("error")
  const isExchanging = error === null && (code !== null || tokenOfIssuer !== null)

  useEffect(() => {
    const enter = (token: string) => {
      keepPageToken(token)
      queries.clear()
      // a second visit of this page must not use what has been used
      fragment.delete("code")
      fragment.delete("csrf_token")
      sessionStorage.removeItem(returnKey)
      void router.navigate({ href: returnPath(returnTo), replace: true })
    }
    if (tokenOfIssuer !== null) enter(tokenOfIssuer)
    else if (code !== null && error === null) exchanged(code).then(enter, setError)
    else if (pageToken() !== null) void router.navigate({ href: returnPath(returnTo), replace: true })
  }, [code, error, tokenOfIssuer, returnTo, router, queries])
  useEffect(() => {
    // a link that is opened in this tab loads nothing by itself: only its fragment differs
    const loaded = () => location.reload()
    addEventListener("hashchange", loaded)
    return () => removeEventListener("hashchange", loaded)
  }, [])

  return (
    <Center mih="100dvh" p="md" component="main">
      <Paper withBorder p="xl" className="block" w="100%" maw={480}>
        <Stack>
          <Title order={1} size="h3">
            Model routing gateway
          </Title>
          {isExchanging ? (
            <Stack align="center" role="status">
              <Loader aria-hidden="true" />
              <Text size="sm">Signing in …</Text>
            </Stack>
          ) : isAtIssuer ? (
            <>
              {refusal === null ? null : (
                <Text role="alert" fw={600}>
                  {refusal === "refused"
                    ? "The identity provider did not sign you in, or the sign-in took more than 10 minutes. Try again."
                    : "Signing in is not possible at the moment. Try again later."}
                </Text>
              )}
              <Button component="a" href="/api/session/oidc/start" onClick={() => keepForIssuer(returnTo)}>
                Sign in
              </Button>
            </>
          ) : (
            <ByLink
              error={error}
              onRetry={() => {
                exchange = undefined
                setError(null)
              }}
            />
          )}
        </Stack>
      </Paper>
    </Center>
  )
}

const ByLink = ({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) => (
  <Stack gap="sm">
    {error === null ? null : asFailure(error).status === 401 ? (
      <Text role="alert" fw={600}>
        This link does not work any more: a link works once, for 10 minutes.
      </Text>
    ) : (
      <Failure error={error} retry={onRetry} />
    )}
    <Text>Open a sign-in link of this service:</Text>
    <List size="sm" spacing="xs">
      <List.Item>
        the service prints one when it starts, after <Code>Dashboard</Code>,
      </List.Item>
      <List.Item>
        <Code>npm run sign-in</Code> prints another one where the service runs,
      </List.Item>
      <List.Item>a browser that is signed in makes one under Settings.</List.Item>
    </List>
    <Text size="sm" c="dimmed">
      Scripts sign in by the API: see{" "}
      <Anchor href="/docs" underline="always" inherit>
        the reference
      </Anchor>
      .
    </Text>
  </Stack>
)

export default SignIn
