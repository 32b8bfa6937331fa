import { useParams } from "@tanstack/react-router"
import { Block } from "../../parts/Block.tsx"
import { Page } from "../../parts/Page.tsx"
import { RequestDetail } from "./RequestDetail.tsx"

const RequestPage = () => {
  const { requestId } = useParams({ from: "/shell/requests/$requestId" })
  return (
    <Page title="Request">
      <Block>
        <RequestDetail requestId={requestId} level={2} />
      </Block>
    </Page>
  )
}

export default RequestPage
