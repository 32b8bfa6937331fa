/** Where a value stands in a JSON document. */
export type JsonPath = ReadonlyArray<PropertyKey>

const maxKeyCharacters = 64

/** Such as `messages[2].content[0].type`. Keys are untrusted text: cut, and quoted unless they are identifiers. */
export const jsonPathText = (path: JsonPath): string => {
  let text = ""
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`
    else {
      const name = String(key)
      if (/^[A-Za-z_$][\w$]*$/.test(name) && name.length <= maxKeyCharacters) text += text === "" ? name : `.${name}`
      else text += `[${JSON.stringify(name.slice(0, maxKeyCharacters))}]`
    }
  }
  return text
}
