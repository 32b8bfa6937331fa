import { Page } from "../../parts/Page.tsx"

const RequestPage = () => <Page title="RequestPage">x</Page>
export default RequestPage
