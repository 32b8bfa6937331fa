// @ts-check
// HAProxy and nginx before several nodes, with the settings that the operations page recommends and else their defaults.
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** @typedef {{ name: string, stop: () => Promise<void> }} Balancer */

/** @type {Readonly<Record<string, { command: string, text: (port: number, nodes: ReadonlyArray<number>) => string, args: (file: string, folder: string) => ReadonlyArray<string> }>>} */
const kinds = {
  haproxy: {
    command: "haproxy",
    args: (file) => ["-db", "-f", file],
    text: (port, nodes) =>
      [
        "defaults",
        "  mode http",
        "  timeout connect 5s",
        "  timeout client 600s",
        "  timeout server 600s",
        "frontend clients",
        `  bind 127.0.0.1:${port}`,
        "  default_backend gateway",
        "backend gateway",
        "  option httpchk GET /readyz",
        "  default-server check inter 2s fall 3",
        ...nodes.map((node, index) => `  server node${index} 127.0.0.1:${node}`),
        ""
      ].join("\n")
  },
  nginx: {
    command: "nginx",
    args: (file, folder) => ["-c", file, "-p", folder, "-e", join(folder, "error.log")],
    text: (port, nodes) =>
      [
        "daemon off;",
        "pid nginx.pid;",
        "events {}",
        "http {",
        "  access_log off;",
        "  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;",
        `  upstream gateway { ${nodes.map((node) => `server 127.0.0.1:${node};`).join(" ")} }`,
        "  server {",
        `    listen 127.0.0.1:${port};`,
        "    location / { proxy_pass http://gateway; proxy_buffering off; proxy_read_timeout 600s; client_max_body_size 32m; }",
        "  }",
        "}",
        ""
      ].join("\n")
  }
}

export const balancers = Object.keys(kinds)

/** `undefined` when it is not installed. @param {string} name @param {number} port @param {ReadonlyArray<number>} nodes @returns {Promise<Balancer | undefined>} */
export const startBalancer = async (name, port, nodes) => {
  const kind = kinds[name]
  if (kind === undefined || spawnSync(kind.command, ["-v"]).error !== undefined) return undefined
  const folder = await mkdtemp(join(tmpdir(), `gateway-${name}-`))
  const file = join(folder, `${name}.conf`)
  await writeFile(file, kind.text(port, nodes))
  const child = spawn(kind.command, kind.args(file, folder), { stdio: ["ignore", "ignore", "inherit"] })
  return {
    name,
    stop: async () => {
      if (child.exitCode === null) {
        child.kill("SIGTERM")
        await once(child, "exit")
      }
      // a refused connection is what a closed port is for: another node takes the call
      const log = await readFile(join(folder, "error.log"), "utf8").catch(() => "")
      for (const line of log.split("\n")) {
        if (line.includes("[error]") && !line.includes("Connection refused")) console.log(`  ${line}`)
      }
      await rm(folder, { recursive: true, force: true })
    }
  }
}
