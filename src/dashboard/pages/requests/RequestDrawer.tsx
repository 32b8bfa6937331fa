import { Drawer } from "../../parts/Dialog.tsx"
import { RequestDetail } from "./RequestDetail.tsx"

const RequestDrawer = ({ onClose, requestId }: { readonly requestId: string; readonly onClose: () => void }) => (
  <Drawer opened onClose={onClose} title="Request" size="xl">
    <RequestDetail requestId={requestId} level={3} />
  </Drawer>
)

export default RequestDrawer
