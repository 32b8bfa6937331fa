// @ts-check
import { join } from "node:path"
import { root } from "../lib/root.mjs"

/** What every page shows. */
const lists =
  /@mantine\/core\/esm\/components\/(ScrollArea|Table|SimpleGrid|Progress|List|Code|Center|Badge|SegmentedControl|FloatingIndicator|Tabs)\/|octicons-react\/.*PlusIcon|use-debounced-value|dashboard\/api\/events|dashboard\/pages\/keys\/(Snippets|snippetTexts)|dashboard\/pages\/doctor\/(StateOf|counted)|dashboard\/parts\/(Ago|health|Page|Status|StopCall|Empty|CopyText|useCopy|useIdempotencyKeys|useIsShown|reasons|RouteTrail|WideTable|WhoCan|ViewerNote|Shares|LoadMore|leaveFocus|mayTakeFocus|useDraft|saveFile)|react-query\/.*(useMutation|useInfiniteQuery)|query-core\/.*(mutationObserver|infiniteQueryObserver)/
const table = /react-virtual|virtual-core|dashboard\/parts\/DataTable/
const chart = /uplot|dashboard\/parts\/(Chart|axis|points)/
/** What opens over a page, which no page needs before. */
const dialogs =
  /@mantine\/core\/esm\/components\/(Modal|ModalBase|Drawer)\/|react-remove-scroll|react-router\/.*useBlocker|dashboard\/parts\/(Dialog|FormDialog|ConfirmByName|AskBeforeLeaving|AskInPlace|SettingsForm|useFocusInvalid)/
/** What editors are made of: lists of figures are shown without it. */
const forms =
  /@mantine\/(form|core\/esm\/components\/(Combobox|Select|NumberInput|TagsInput|Pill|PillsInput|Slider|Switch|Checkbox|Radio|Textarea|PasswordInput|TextInput|InputBase))\/|react-number-format|dashboard\/parts\/(fieldErrors|RateFields|LimitFields|FilterField|useEdited|useSettings)|use-debounced-callback|dashboard\/pages\/rules/

/** How the web app is built and served for development. The service replaces the nonce in each response. */
export const viteConfig = /** @satisfies {import("vite").InlineConfig} */ ({
  configFile: false,
  root: join(root, "src/dashboard"),
  base: "/dashboard/",
  html: { cspNonce: "__NONCE__" },
  build: {
    emptyOutDir: true,
    manifest: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // an inlined asset would need `data:` in more places of the policy
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // in few files: each is a request of the first load
          groups: [
            { name: "shell", tags: ["$initial"] },
            { name: "common", test: lists },
            { name: "table", test: table },
            { name: "chart", test: chart },
            { name: "forms", test: forms },
            { name: "dialogs", test: dialogs }
          ]
        }
      },
      onLog: (level, log, report) => {
        // what the packages of React components have for other frameworks
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") report(level, log)
      }
    }
  }
})
