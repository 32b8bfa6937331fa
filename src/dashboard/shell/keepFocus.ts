/**
 * A button that is disabled while what it does is on its way loses the focus to the page's body. It gets it again as soon as it can
 * have it, unless a person has gone on elsewhere.
 */
export const keepFocus = (): void => {
  let last: Element | null = null
  new MutationObserver((changes) => {
    for (const { target } of changes) {
      if (!(target instanceof HTMLButtonElement)) continue
      if (target.disabled) {
        if (document.activeElement === target) last = target
      } else if (last === target) {
        if (document.activeElement === document.body) target.focus({ preventScroll: true })
        last = null
      }
    }
  }).observe(document.body, { subtree: true, attributeFilter: ["disabled"] })
}
