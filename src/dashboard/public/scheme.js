// Before the first paint, so that a dark page is never shown light first.
;(() => {
  const chosen = localStorage.getItem("mantine-color-scheme-value")
  const isDark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches)
  document.documentElement.setAttribute("data-mantine-color-scheme", isDark ? "dark" : "light")
})()
