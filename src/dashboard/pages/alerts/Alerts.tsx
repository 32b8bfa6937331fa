import { Page } from "../../parts/Page.tsx"

const Alerts = () => <Page title="Alerts">x</Page>
export default Alerts
