import { Autocomplete, TextInput, type TextInputProps } from "@mantine/core"
import { useDebouncedCallback } from "@mantine/hooks"
import { type Ref, useEffect, useRef, useState } from "react"

interface FilterFieldProps extends Pick<TextInputProps, "label" | "maxLength" | "placeholder" | "w"> {
  /** As it stands in the address. */
  readonly value: string | undefined
  readonly onChange: (value: string) => void
  readonly waitMillis: number
  /** Values that are known; others can be typed. */
  readonly suggestions?: ReadonlyArray<string>
  readonly ref?: Ref<HTMLInputElement>
}

const maxSuggestions = 50

/** A filter as text: it takes effect when a person pauses, and follows the address where that has changed otherwise. */
export const FilterField = ({ onChange, suggestions, value = "", waitMillis, ...props }: FilterFieldProps) => {
  const [typed, setTyped] = useState(value)
  const sent = useRef(value)
  const send = useDebouncedCallback((next: string) => {
    sent.current = next
    onChange(next)
  }, waitMillis)
  useEffect(() => {
    if (value === sent.current) return
    send.cancel()
    sent.current = value
    setTyped(value)
  }, [value, send])
  const change = (next: string) => {
    setTyped(next)
    send(next.trim())
  }
  const field = { size: "xs", value: typed, ...props } as const
  return suggestions === undefined ? (
    <TextInput {...field} onChange={({ currentTarget }) => change(currentTarget.value)} />
  ) : (
    <Autocomplete
      {...field}
      data={[...suggestions]}
      limit={maxSuggestions}
      // ids are longer than the field
      comboboxProps={{ width: "max-content", position: "bottom-start" }}
      onChange={change}
    />
  )
}
