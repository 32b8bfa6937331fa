/** What is pressed goes with what it has done: the focus then is with what it stood in, unless a person has gone on elsewhere. */
export const leaveFocus = (pressed: HTMLElement | null): void => {
  const at = document.activeElement
  // a button that is disabled meanwhile has lost it
  if (at !== pressed && at !== document.body) return
  pressed?.parentElement?.closest<HTMLElement>("[tabindex]")?.focus({ preventScroll: true })
}
