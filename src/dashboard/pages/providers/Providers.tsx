import { Page } from "../../parts/Page.tsx"

const Providers = () => <Page title="Providers">x</Page>
export default Providers
