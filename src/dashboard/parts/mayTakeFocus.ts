/** What is shown late takes no focus from a dialog that was opened meanwhile. */
export const isDialogOpen = (): boolean => document.querySelector("[role=dialog]") !== null

/** Whether a person who has opened a page writes next: not on a phone, whose keyboard covers it, or where they work elsewhere. */
export const mayTakeFocus = (): boolean =>
  matchMedia("(hover: hover)").matches &&
  !isDialogOpen() &&
  /^(A|BODY|MAIN)$/.test(document.activeElement?.tagName ?? "")
