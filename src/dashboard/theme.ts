import { type CSSVariablesResolver, createTheme } from "@mantine/core"

/**
 * What the automatic accessibility check found in the components as they come is set right here, once. By name: to import the
 * components would put all of them into the shell.
 */
export const theme = createTheme({
  primaryColor: "indigo",
  primaryShade: { light: 7, dark: 8 },
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', Menlo, Consolas, monospace",
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    Modal: { defaultProps: { closeButtonProps: { "aria-label": "Close" }, centered: true } },
    Drawer: { defaultProps: { closeButtonProps: { "aria-label": "Close" }, position: "right" } },
    // a dot and the text, so that nothing is told by colour alone
    Badge: { defaultProps: { variant: "dot", tt: "none", fw: 500 } },
    Slider: { defaultProps: { thumbLabel: "Value" } }
  }
})

export const cssVariables: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    "--mantine-color-dimmed": colors.gray[7],
    "--mantine-color-body": colors.gray[0],
    "--mantine-color-teal-text": "#066649",
    "--mantine-color-red-text": colors.red[9],
    "--mantine-color-red-outline": colors.red[9],
    "--mantine-color-yellow-outline": "#7a4b00",
    "--mantine-color-error": colors.red[9],
    "--mantine-color-placeholder": "#6c757d",
    "--edge": colors.gray[6],
    "--focus": colors.indigo[7]
  },
  dark: {
    "--mantine-color-dimmed": colors.dark[1],
    "--mantine-color-disabled": colors.dark[5],
    "--mantine-color-error": colors.red[4],
    "--mantine-color-placeholder": "#9a9a9a",
    "--edge": colors.dark[2],
    "--focus": colors.indigo[4]
  }
})
