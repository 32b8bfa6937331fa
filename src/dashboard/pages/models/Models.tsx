import { Page } from "../../parts/Page.tsx"

const Models = () => <Page title="Models">x</Page>
export default Models
