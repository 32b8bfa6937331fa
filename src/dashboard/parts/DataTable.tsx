import { Center } from "@mantine/core"
import { useMediaQuery } from "@mantine/hooks"
import { useVirtualizer } from "@tanstack/react-virtual"
import { type CSSProperties, memo, type ReactNode, useEffect, useRef, useState } from "react"
import { useKeys } from "../shell/keys.ts"
import { LoadMore, type Pages } from "./LoadMore.tsx"

export interface Column<Row> {
  readonly id: string
  readonly header: ReactNode
  readonly cell: (row: Row) => ReactNode
  /** A track of the CSS grid. */
  readonly width?: string
  readonly align?: "right"
  /** On narrower screens it is left out; the detail of a row has everything. */
  readonly from?: "sm" | "md" | "lg"
}

interface DataTableProps<Row> {
  readonly label: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly keyOf: (row: Row) => string
  readonly onOpen?: (row: Row) => void
  readonly activeKey?: string | undefined
  readonly rowHeight?: number
  /** What the rows come from, where it is read page by page. */
  readonly list?: Pages
  readonly maxHeight?: string
  readonly onScrolled?: (isAtTop: boolean) => void
}

const overscan = 8
const headHeight = 36
/** Rows before the end at which the next page is asked for. */
const ahead = 20

/** A table of any length: only the rows in view, and a few around them, are in the document. */
export const DataTable = <Row,>(props: DataTableProps<Row>) => {
  const {
    columns,
    keyOf,
    label,
    list,
    maxHeight = "calc(100dvh - 15rem)",
    onOpen,
    onScrolled,
    rowHeight = 44,
    rows
  } = props
  const isSmall = useMediaQuery("(min-width: 48em)", true)
  const isMedium = useMediaQuery("(min-width: 62em)", true)
  const isLarge = useMediaQuery("(min-width: 75em)", true)
  const isShown = { sm: isSmall, md: isMedium, lg: isLarge }
  const shown = columns.filter(({ from }) => from === undefined || isShown[from])
  const template = shown.map(({ width }) => width ?? "minmax(0, 1fr)").join(" ")

  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan,
    scrollMargin: 0
  })
  const inView = virtual.getVirtualItems()
  const last = inView.at(-1)?.index ?? 0
  const hasMore = list?.hasNextPage === true
  const load = list?.fetchNextPage
  // a page that has failed is asked for again by its button only
  const mayLoad = hasMore && !list.isFetchingNextPage && !list.isFetchNextPageError
  const wantsMore = mayLoad && last >= rows.length - ahead && rows.length > ahead
  useEffect(() => {
    if (wantsMore) void load?.()
  }, [wantsMore, load])

  // by its key: others may come above it
  const [chosen, choose] = useState<string>()
  const indexOfChosen = () => rows.findIndex((row) => keyOf(row) === chosen)
  const go = (to: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, to))
    const row = rows[next]
    if (row === undefined) return
    choose(keyOf(row))
    virtual.scrollToIndex(next)
  }
  useKeys(
    onOpen === undefined
      ? {}
      : {
          j: () => go(indexOfChosen() + 1),
          k: () => go(indexOfChosen() - 1),
          Enter: () => {
            const row = rows[indexOfChosen()]
            if (row !== undefined) onOpen(row)
          }
        }
  )

  return (
    // the box that scrolls can be reached by keyboard
    <div
      ref={scroller}
      className="grid-table"
      style={{ maxHeight }}
      role="table"
      aria-label={label}
      aria-rowcount={hasMore ? -1 : rows.length + 1}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
      tabIndex={0}
      onScroll={onScrolled === undefined ? undefined : (event) => onScrolled(event.currentTarget.scrollTop < rowHeight)}
    >
      <div role="rowgroup" style={{ position: "sticky", top: 0, zIndex: 1 }}>
        <div role="row" className="grid-row grid-head" style={{ gridTemplateColumns: template, height: headHeight }}>
          {shown.map(({ align, header, id }) => (
            <div key={id} role="columnheader" className="grid-cell" data-align={align}>
              {header}
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {inView.map(({ index, start }) => {
          const row = rows[index]
          if (row === undefined) return null
          const key = keyOf(row)
          return (
            <TableRow
              key={key}
              row={row}
              columns={shown}
              template={template}
              top={start}
              height={rowHeight}
              index={index}
              isActive={chosen === key || props.activeKey === key}
              onOpen={onOpen}
            />
          )
        })}
      </div>
      {hasMore ? (
        <Center p="xs">
          <LoadMore size="xs" list={list}>
            Load more
          </LoadMore>
        </Center>
      ) : null}
    </div>
  )
}

interface TableRowProps<Row> {
  readonly row: Row
  readonly columns: ReadonlyArray<Column<Row>>
  readonly template: string
  readonly top: number
  readonly height: number
  readonly index: number
  readonly isActive: boolean
  readonly onOpen: ((row: Row) => void) | undefined
}

const RowOf = <Row,>({ columns, height, index, isActive, onOpen, row, template, top }: TableRowProps<Row>) => {
  const style: CSSProperties = {
    gridTemplateColumns: template,
    position: "absolute",
    top: 0,
    left: 0,
    right: 0,
    height,
    transform: `translateY(${top}px)`
  }
  const opens =
    onOpen === undefined
      ? {}
      : {
          "data-opens": true,
          tabIndex: 0,
          onClick: () => onOpen(row),
          onKeyDown: (event: React.KeyboardEvent) => {
            if (event.key !== "Enter" || event.target !== event.currentTarget) return
            event.stopPropagation()
            onOpen(row)
          }
        }
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className="grid-row"
      style={style}
      {...(isActive ? { "data-active": true } : {})}
      {...opens}
    >
      {columns.map(({ align, cell, id }) => {
        const content = cell(row)
        return (
          <div
            key={id}
            role="cell"
            className="grid-cell"
            data-align={align}
            // the column may cut it
            title={typeof content === "string" ? content : undefined}
          >
            {content}
          </div>
        )
      })}
    </div>
  )
}

// a frame of scrolling then costs the rows that come into view only
const TableRow = memo(
  RowOf,
  (before, after) =>
    before.row === after.row &&
    before.template === after.template &&
    before.top === after.top &&
    before.isActive === after.isActive &&
    before.columns.length === after.columns.length &&
    before.onOpen === after.onOpen
) as typeof RowOf
