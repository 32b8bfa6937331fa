import { Page } from "../../parts/Page.tsx"

const Activity = () => <Page title="Activity">x</Page>
export default Activity
