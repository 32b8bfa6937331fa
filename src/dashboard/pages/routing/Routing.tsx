import { Page } from "../../parts/Page.tsx"

const Routing = () => <Page title="Routing">x</Page>
export default Routing
