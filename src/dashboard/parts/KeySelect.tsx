import { Select, type SelectProps } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { key, keyNames } from "../api/queries.ts"

interface KeySelectProps extends Omit<SelectProps, "data" | "value"> {
  readonly projectId: string
  /** Empty where none is chosen. */
  readonly value: string
}

/** One of all keys of a project: they are read when it is opened, and before that only the one that is chosen. */
export const KeySelect = ({ projectId, value, ...props }: KeySelectProps) => {
  const [isOpened, setOpened] = useState(false)
  const { data: names, isError } = useQuery({ ...keyNames(projectId), enabled: isOpened })
  const chosen = useQuery({ ...key(value), enabled: value !== "" && names === undefined }).data?.data.name
  const unlisted = value === "" || names?.has(value) === true ? [] : [{ value, label: chosen ?? value.slice(-8) }]
  return (
    <Select
      label="Key"
      searchable
      nothingFoundMessage={names !== undefined ? "No such key" : isError ? "The keys could not be read" : "Loading"}
      onDropdownOpen={() => setOpened(true)}
      data={[...unlisted, ...[...(names ?? [])].map(([id, label]) => ({ value: id, label }))]}
      value={value === "" ? null : value}
      {...props}
    />
  )
}
