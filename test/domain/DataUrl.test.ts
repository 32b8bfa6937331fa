import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as DataUrl from "../../src/domain/DataUrl.ts"

describe("a data: URL", () => {
  it("gives back its bytes, however it spells them", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const buffer = Buffer.from(bytes)
        const base64 = buffer.toString("base64")
        const wrapped = base64.replace(/.{10}/g, "$&\r\n")
        for (const body of [
          base64,
          base64.replace(/=+$/, ""),
          buffer.toString("base64url"),
          wrapped,
          encodeURIComponent(base64)
        ]) {
          expect(DataUrl.parse(`data:image/png;base64,${body}`)).toEqual({ mediaType: "image/png", base64 })
        }
      })
    )
    const hello = Buffer.from("héllo").toString("base64")
    expect(DataUrl.parse("data:text/plain;charset=utf-8,h%C3%A9llo")).toEqual({
      mediaType: "text/plain",
      base64: hello
    })
  })

  it("names its media type as providers do", () => {
    const types = ["data:image/jpg;base64,AAAA", "DATA:Image/PNG;name=x;BASE64,AAAA", "data:,x"]
    expect(types.map((url) => DataUrl.parse(url)?.mediaType)).toEqual(["image/jpeg", "image/png", "text/plain"])
  })

  it("is refused when it is none, or its content cannot be read", () => {
    for (const url of [
      "https://example.com/a.png",
      "data:image/png;base64",
      "data:image/png;base64,A",
      "data:image/png;base64,AA*A",
      "data:image/png,%E0%A4%A",
      `data:${"x".repeat(2000)},x`
    ]) {
      expect(DataUrl.parse(url)).toBeUndefined()
    }
  })
})
