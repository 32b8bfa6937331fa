import { Page } from "../../parts/Page.tsx"

const Credits = () => <Page title="Credits">x</Page>
export default Credits
