import { Page } from "../../parts/Page.tsx"

const Admin = () => <Page title="Admin">x</Page>
export default Admin
