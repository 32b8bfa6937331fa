import { Page } from "../../parts/Page.tsx"

const Policy = () => <Page title="Policy">x</Page>
export default Policy
