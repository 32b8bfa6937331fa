import { ActionIcon, type ActionIconProps } from "@mantine/core"
import { PersonIcon } from "@primer/octicons-react"
import { forwardRef } from "react"

type UserButtonProps = ActionIconProps & Omit<React.ComponentPropsWithoutRef<"button">, keyof ActionIconProps>

export const UserButton = forwardRef<HTMLButtonElement, UserButtonProps>((props, ref) => (
  <ActionIcon ref={ref} variant="default" size="lg" aria-label="You" {...props}>
    <PersonIcon />
  </ActionIcon>
))
