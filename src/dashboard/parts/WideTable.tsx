import { Box } from "@mantine/core"
import type { ReactNode } from "react"

interface WideTableProps {
  readonly label: string
  /** Below it the box scrolls, and not the page. */
  readonly minWidth: number
  readonly children: ReactNode
}

/** A table that may be wider than a small screen; its box can be scrolled by keyboard. */
export const WideTable = ({ children, label, minWidth }: WideTableProps) => (
  <Box tabIndex={0} role="region" aria-label={label} style={{ overflowX: "auto", position: "relative" }}>
    <Box miw={minWidth}>{children}</Box>
  </Box>
)
