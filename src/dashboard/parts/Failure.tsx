import { Alert, Button, Group, Text } from "@mantine/core"
import { asFailure } from "../api/failure.ts"
import { CopyText } from "./CopyText.tsx"

/** A block that could not be loaded or changed, in the block's own place; the rest of the page goes on. */
export const Failure = ({
  error,
  onClose,
  retry
}: {
  readonly error: unknown
  readonly retry?: (() => unknown) | undefined
  readonly onClose?: (() => void) | undefined
}) => {
  const { code, message, requestId, status } = asFailure(error)
  return (
    <Alert
      color={status === 503 || status === 0 ? "yellow" : "red"}
      title={titleOf(status, code)}
      variant="outline"
      role="alert"
      withCloseButton={onClose !== undefined}
      closeButtonLabel="Close"
      onClose={() => onClose?.()}
    >
      {/* the service tells what a program would have to send */}
      <Text size="sm">{status === 401 ? "Nothing was changed. Sign in again, and repeat it." : message}</Text>
      <Group gap="xs" mt="xs">
        <Text size="xs" c="dimmed" className="mono">
          {code}
        </Text>
        {requestId === null ? null : <CopyText label="Request id" text={requestId} />}
        {retry === undefined ? null : (
          <Button size="compact-xs" variant="default" onClick={() => void retry()}>
            Retry
          </Button>
        )}
      </Group>
    </Alert>
  )
}

const titleOf = (status: number, code: string): string => {
  if (status === 412 || code === "config_version_mismatch") return "Changed elsewhere"
  if (status === 401) return "Your session has ended"
  if (status === 403) return "Not allowed"
  if (status === 404) return "Not found"
  if (status === 503 || status === 0) return "Not available right now"
  return code === "managed_by_configuration" ? "Managed by the configuration" : "The request failed"
}
