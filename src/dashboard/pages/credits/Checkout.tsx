import { Page } from "../../parts/Page.tsx"

const Checkout = () => <Page title="Checkout">x</Page>
export default Checkout
