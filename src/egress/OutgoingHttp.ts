import type * as HttpClient from "@effect/platform/HttpClient"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Layer from "effect/Layer"
import { acquireAgent } from "./Agent.ts"
import type { ProxyOptions } from "./Proxy.ts"

const connectMillis = 10_000

/** The HTTP client for services that the operator has named, such as an object store, through the operator's proxies. */
export const layer = (proxy: ProxyOptions): Layer.Layer<HttpClient.HttpClient> =>
  Layer.provide(
    NodeHttpClient.layerUndiciWithoutDispatcher,
    Layer.scoped(NodeHttpClient.Dispatcher, acquireAgent({ connectMillis, proxy }))
  )
