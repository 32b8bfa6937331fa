// @ts-check
/**
 * Listens on loopback, on a free port, and resolves with the port.
 *
 * @param {import("node:net").Server} server
 * @param {number} [backlog]
 * @returns {Promise<number>}
 */
export const listen = (server, backlog = 511) =>
  new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen({ port: 0, host: "127.0.0.1", backlog }, () => {
      const address = server.address()
      if (address === null || typeof address === "string") reject(new Error("a server on TCP has a port"))
      else resolve(address.port)
    })
  })
