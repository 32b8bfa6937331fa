// @ts-check
// `npm run build -- --watch`: the web app from its sources, rebuilt at each change, in front of a running service (PORT, 8080).
import { join } from "node:path"
import { createServer } from "vite"
import { dist } from "../lib/built.mjs"
import { viteConfig } from "./vite.mjs"

const service = `http://127.0.0.1:${process.env["PORT"] || 8080}`

const server = await createServer({
  ...viteConfig,
  cacheDir: join(dist, ".vite"),
  // what the service writes into each response of the page
  plugins: [
    {
      name: "sign-in",
      transformIndexHtml: (html) => html.replaceAll("__SIGN_IN__", process.env["OIDC_ISSUER"] ? "oidc" : "link")
    }
  ],
  server: {
    host: "127.0.0.1",
    port: 5173,
    proxy: Object.fromEntries(["/api", "/v1", "/content"].map((path) => [path, { target: service }]))
  }
})
await server.listen()
const { port } = new URL(server.resolvedUrls?.local[0] ?? "http://127.0.0.1:5173")
console.log(`the web app at http://127.0.0.1:${port}/dashboard/, in front of ${service}`)
console.log(`sign in with a link of \`npm run sign-in\` whose port is replaced by ${port}`)
