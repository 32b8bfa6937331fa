import { Anchor, Button, type ButtonProps } from "@mantine/core"
import { createLink } from "@tanstack/react-router"
import { forwardRef, type ReactNode } from "react"

const ButtonAnchor = forwardRef<
  HTMLAnchorElement,
  ButtonProps & { readonly children?: ReactNode; readonly title?: string }
>((props, ref) => <Button ref={ref} component="a" {...props} />)

/** A link of the router that looks like a button. */
export const LinkButton = createLink(ButtonAnchor)

const TextAnchor = forwardRef<HTMLAnchorElement, { readonly children?: ReactNode }>((props, ref) => (
  <Anchor ref={ref} size="sm" underline="always" {...props} />
))

export const TextLink = createLink(TextAnchor)
