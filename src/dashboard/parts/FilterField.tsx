import { TextInput, type TextInputProps } from "@mantine/core"
import { useDebouncedCallback } from "@mantine/hooks"
import { type Ref, useEffect, useRef, useState } from "react"

interface FilterFieldProps extends Omit<TextInputProps, "value" | "defaultValue" | "onChange"> {
  /** As it stands in the address. */
  readonly value: string | undefined
  readonly onChange: (value: string) => void
  readonly waitMillis: number
  readonly ref?: Ref<HTMLInputElement>
}

/** A filter as text: it takes effect when a person pauses, and follows the address where that has changed otherwise. */
export const FilterField = ({ onChange, value = "", waitMillis, ...props }: FilterFieldProps) => {
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
  return (
    <TextInput
      size="xs"
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value)
        send(currentTarget.value.trim())
      }}
      {...props}
    />
  )
}
