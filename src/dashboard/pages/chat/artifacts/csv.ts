const maxRows = 1_000

/** The rows of comma-separated values (RFC 4180), at most as many as a person looks through. */
export const rowsOf = (csv: string): ReadonlyArray<ReadonlyArray<string>> => {
  const rows: Array<Array<string>> = []
  let row: Array<string> = []
  let cell = ""
  let isQuoted = false
  for (let at = 0; at < csv.length && rows.length < maxRows; at += 1) {
    const character = csv[at] ?? ""
    if (isQuoted) {
      if (character !== '"') cell += character
      else if (csv[at + 1] === '"') {
        cell += '"'
        at += 1
      } else isQuoted = false
    } else if (character === '"' && cell === "") isQuoted = true
    else if (character === ",") {
      row.push(cell)
      cell = ""
    } else if (character === "\n") {
      rows.push([...row, cell])
      row = []
      cell = ""
    } else if (character !== "\r" || csv[at + 1] !== "\n") cell += character
  }
  if ((cell !== "" || row.length > 0) && rows.length < maxRows) rows.push([...row, cell])
  return rows
}
