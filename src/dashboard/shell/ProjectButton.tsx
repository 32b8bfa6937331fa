import { Button, type ButtonProps, Text } from "@mantine/core"
import { TriangleDownIcon } from "@primer/octicons-react"
import { forwardRef } from "react"

interface ProjectButtonProps extends ButtonProps, Omit<React.ComponentPropsWithoutRef<"button">, keyof ButtonProps> {
  readonly name: string | undefined
}

export const ProjectButton = forwardRef<HTMLButtonElement, ProjectButtonProps>(({ name, ...props }, ref) => (
  <Button
    ref={ref}
    variant="default"
    size="xs"
    rightSection={<TriangleDownIcon />}
    aria-label={`Project: ${name ?? "none"}`}
    maw={{ base: 130, sm: 260 }}
    {...props}
  >
    <Text span size="sm" truncate>
      {name ?? "…"}
    </Text>
  </Button>
))
