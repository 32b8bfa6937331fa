// What the service takes from undici, in the place of its index: that one would bring fetch, WebSocket, mocks and caches
// into the bundle, a megabyte that is read and partly run at every start.
import { connect, request } from "../../node_modules/undici/lib/api/index.js"
import Dispatcher from "../../node_modules/undici/lib/dispatcher/dispatcher.js"

// as the index does: the HTTP client of the service and tunnels through proxies call them
Object.assign(Dispatcher.prototype, { connect, request })

/** For a library that names all of undici and is not asked for it. */
export default undefined
export { default as buildConnector } from "../../node_modules/undici/lib/core/connect.js"
export { default as errors } from "../../node_modules/undici/lib/core/errors.js"
export { default as Agent } from "../../node_modules/undici/lib/dispatcher/agent.js"
export { default as Pool } from "../../node_modules/undici/lib/dispatcher/pool.js"
