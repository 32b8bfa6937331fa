import { type ComponentType, type ReactNode, useEffect, useState } from "react"

interface WhileLoading {
  /** Shown until the component is there. */
  readonly fallback?: ReactNode
}

/**
 * A component whose code is loaded when it is first shown. React's `lazy` would keep its fallback for 300 ms at least, though the code
 * is there after a few, so that each drawer and dialog would first open late.
 */
export const loadedWhenShown = <Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>
): ComponentType<Props & WhileLoading> => {
  let Loaded: ComponentType<Props> | undefined
  return function LoadedWhenShown(props: Props & WhileLoading) {
    const [result, end] = useState<{ readonly failure?: unknown }>({})
    useEffect(() => {
      if (Loaded !== undefined) return
      load().then(
        (module) => {
          Loaded = module.default
          end({})
        },
        (failure: unknown) => end({ failure })
      )
    }, [])
    if ("failure" in result) throw result.failure
    return Loaded === undefined ? props.fallback : <Loaded {...props} />
  }
}
