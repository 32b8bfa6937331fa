import { Badge } from "@mantine/core"

const colors: Readonly<Record<string, string>> = {
  success: "teal",
  active: "teal",
  credited: "teal",
  accepted: "teal",
  delivered: "teal",
  running: "blue",
  open: "blue",
  processing: "blue",
  pending: "blue",
  error: "red",
  failed: "red",
  rejected: "red",
  revoked: "red",
  timeout: "orange",
  cancelled: "gray",
  expired: "gray",
  inactive: "gray"
}

/** A state as text with a dot: never by colour alone. */
export const Status = ({ label, state }: { readonly state: string; readonly label?: string }) => (
  <Badge color={colors[state] ?? "gray"}>{label ?? state}</Badge>
)
