import { type ComponentType, type ReactNode, useEffect, useState } from "react"
import { createPortal } from "react-dom"
import { unreachable } from "../api/failure.ts"
import { Failure } from "./Failure.tsx"

interface WhileLoading {
  /** Shown until the component is there. */
  readonly fallback?: ReactNode
  /** The fallback is as good where the code cannot be loaded: nothing is said of it. */
  readonly isOptional?: boolean
  /** Of what opens over a page: it closes also where it could not be loaded. */
  readonly onClose?: () => void
}

/**
 * A component whose code is loaded when it is first shown. React's `lazy` would keep its fallback for 300 ms at least, though the code
 * is there after a few, so that each drawer and dialog would first open late; and where the code cannot be loaded, the rest of the page
 * would go with it, and what was typed there.
 */
export const loadedWhenShown = <Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>
): ComponentType<Props & WhileLoading> => {
  let Loaded: ComponentType<Props> | undefined
  return function LoadedWhenShown(props: Props & WhileLoading) {
    const [hasFailed, end] = useState<boolean>()
    const ask = (failed: () => unknown) =>
      load().then((module) => {
        Loaded = module.default
        end(false)
      }, failed)
    const isLoaded = Loaded !== undefined
    // biome-ignore lint/correctness/useExhaustiveDependencies: once
    useEffect(() => {
      if (!isLoaded) void ask(() => end(true))
    }, [])
    if (Loaded !== undefined) return <Loaded {...props} />
    const { fallback, isOptional, onClose } = props
    if (hasFailed !== true || isOptional === true) {
      return (
        <>
          {fallback}
          {/* what is typed before it has come is not for the page */}
          {onClose === undefined ? null : <div role="dialog" hidden />}
        </>
      )
    }
    const failure = <Failure error={unreachable()} retry={() => ask(reloadIfAnswered)} onClose={onClose} />
    // a part of the page has a place of its own
    if (fallback !== undefined && onClose === undefined) return failure
    return (
      <>
        {fallback}
        {createPortal(<div className="not-loaded">{failure}</div>, document.body)}
      </>
    )
  }
}

/** Some browsers never load again what has failed once, and a service that was replaced does not have it: a new page does. */
const reloadIfAnswered = () =>
  fetch(location.href).then(
    ({ ok }) => ok && location.reload(),
    () => undefined
  )
