import { Button, Group, Stack, Text } from "@mantine/core"
import { leavePage } from "../api/session.ts"
import { Modal } from "../parts/Dialog.tsx"

/** The session has ended while something was not saved: the page goes on once the person has signed in again. */
const SignInAgain = () => (
  <Modal opened onClose={() => {}} withCloseButton={false} title="Your session has ended">
    <Stack>
      <Text size="sm">
        What you have typed stays on this page. Sign in again in another tab of this browser, then go on here.
      </Text>
      <Group>
        <Button component="a" href="/dashboard/sign-in" target="_blank" rel="noopener" data-autofocus>
          Sign in in another tab
        </Button>
        <Button variant="default" onClick={leavePage}>
          Leave without saving
        </Button>
      </Group>
    </Stack>
  </Modal>
)

export default SignInAgain
