// What the service takes from undici, in the place of its index: that one would bring fetch, WebSocket, mocks and caches
// into the bundle, a megabyte that is read and partly run at every start.
/** For a library that names all of undici and is not asked for it. */
export default undefined
export { default as buildConnector } from "../../node_modules/undici/lib/core/connect.js"
export { default as Agent } from "../../node_modules/undici/lib/dispatcher/agent.js"
