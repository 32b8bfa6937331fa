import { Page } from "../../parts/Page.tsx"

const RoutingConfiguration = () => <Page title="RoutingConfiguration">x</Page>
export default RoutingConfiguration
