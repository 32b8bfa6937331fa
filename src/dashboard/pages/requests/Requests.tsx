import { Page } from "../../parts/Page.tsx"

const Requests = () => <Page title="Requests">x</Page>
export default Requests
