import { configOf, startTalker } from "../support/Chat.ts"
import { masterKey, startService } from "../support/Service.ts"
import { operatorApi } from "./Seeded.ts"

const page = `<!doctype html>
<style>
  body { font-family: system-ui; margin: 0; color: #1c2333 }
  header { padding: 3rem 2rem; background: linear-gradient(120deg, #4263eb, #0b7285); color: white }
  main { display: grid; grid-template-columns: repeat(2, 1fr); gap: 1rem; padding: 1.5rem }
  article { padding: 1rem; border: 1px solid #dee2e6; border-radius: 10px }
</style>
<header><h1>Bakery at the Harbour</h1><p>Bread since 1924, baked at night.</p></header>
<main><article><h2>Rye</h2><p>Three days of sourdough.</p></article><article><h2>Rolls</h2><p>From six in the morning.</p></article>
<article><h2>Cake</h2><p>Plum, while there are plums.</p></article><article><h2>Coffee</h2><p>From the roaster across the street.</p></article></main>`

/** A conversation with a page that a model has made, as the pictures of the README show it. */
export const illustratedConversation = async () => {
  const talker = await startTalker()
  const service = await startService({
    config: configOf(talker),
    env: { PROVIDER_KEY: "sk-upstream", GATEWAY_MASTER_KEY: masterKey }
  })
  const api = await operatorApi(service)
  const { default_project_id: project_id } = await api<{ readonly default_project_id: string }>("GET", "/api/me")
  const { id } = await api<{ readonly id: string }>("POST", "/api/chat/conversations", { project_id })
  await api("POST", `/api/chat/conversations/${id}/messages`, {
    content: "Make a landing page for a bakery at a harbour",
    model: "acme/large"
  })
  const first = await talker.talk(0)
  first.say("Here is a page with a header and four cards.\n\n")
  const written = { name: "index.html", media_type: "text/html", content: page }
  first.call(0, "write_artifact", JSON.stringify(written))
  first.finish("tool_calls")
  const second = await talker.talk(1)
  second.say(
    "The colours are in the `header` rule:\n\n```css\nheader { background: linear-gradient(120deg, #4263eb, #0b7285) }\n```"
  )
  second.finish()
  const read = () =>
    api<{ readonly running: boolean; readonly artifacts: ReadonlyArray<{ readonly id: string }> }>(
      "GET",
      `/api/chat/conversations/${id}`
    )
  while ((await read()).running) await new Promise((resolve) => setTimeout(resolve, 50))
  const [artifact] = (await read()).artifacts
  return {
    url: service.url,
    /** Below `/dashboard`. */
    path: `/chat/${id}?artifact=${artifact?.id}`,
    signInLink: async () => (await api<{ readonly url: string }>("POST", "/api/session/links")).url,
    stop: async () => {
      await service.stop()
      await talker.stop()
    }
  }
}
