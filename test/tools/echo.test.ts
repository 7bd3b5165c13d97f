import { expect, test } from "vitest"
import { cleanWithin, withoutOurs } from "../../src/tools/echo.ts"

const secret = 's3cr"et/of+ours&more'
const clean = withoutOurs([secret])

test.each([
  ["as it is", secret],
  ["in JSON", JSON.stringify(secret).slice(1, -1)],
  ["in JSON for a page", JSON.stringify(secret).slice(1, -1).replaceAll("/", "\\/")],
  ["in an address", encodeURIComponent(secret)],
  ["in a form", new URLSearchParams({ a: secret }).toString().slice(2)],
  ["in a page", "s3cr&quot;et/of+ours&amp;more"],
  ["in base64", Buffer.from(secret).toString("base64")],
])("our secret is left out %s", (_, spelled) => {
  expect(clean(`you sent ${spelled}.`)).toBe("you sent [our secret].")
})

test("what is left of it where a text was shortened is left out, too", () => {
  expect(clean(`wrong: ${secret.slice(0, 12)}`)).toBe("wrong: [our secret]")
  expect(clean(`wrong: ${secret.slice(0, 12)}… (HTTP 401)`)).toBe("wrong: [our secret]… (HTTP 401)")
  expect(clean("s3c… is short enough for chance")).toBe("s3c… is short enough for chance")
})

test("it is left out of each text within a value, and a value without it is the same one", () => {
  const value = { type: "object", enum: [`x ${secret}`, 5, null] }
  expect(cleanWithin(value, clean)).toEqual({ type: "object", enum: ["x [our secret]", 5, null] })
  const fine = { type: "object" }
  expect(cleanWithin(fine, clean)).toBe(fine)
})
