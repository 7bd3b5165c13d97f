import { afterEach, describe, expect, test } from "vitest"
import { calling, closeAll, setUp, STYLES } from "./wires.ts"

afterEach(closeAll)

/** A list in the request, as it went over the wire, without its end. */
function begun(raw: string, key: string): string {
  const list = JSON.stringify((JSON.parse(raw) as Record<string, unknown>)[key])
  expect(raw).toContain(list)
  return list.slice(0, -1)
}

describe.each(STYLES)("on the wire of %s", (style) => {
  test("each request begins with the one before, byte for byte, so that the provider's cache holds", async () => {
    const tool = (name: string) => ({
      name,
      description: `Does ${name}`,
      run: (args: Record<string, unknown>) => ({ did: name, with: args, note: 'é \u2028 "quoted"' }),
      inputSchema: { type: "object", additionalProperties: true },
    })
    const turns = [
      { ...calling(["b", { z: 1, a: [1, 2.5, null] }], ["a", { text: "\u0007 ü" }]), text: "First." },
      calling(["a", {}]),
      { text: "done" },
    ]
    const { provider, client, toolkit } = await setUp(style, { turns, tools: [tool("b"), tool("a")] })
    toolkit.register(tool("c"))
    await client.run("go on", { toolkit })
    expect(provider.requests).toHaveLength(3)
    const raws = provider.requests.map(({ raw }) => raw)
    for (const [index, raw] of raws.slice(1).entries()) {
      const before = raws[index] ?? ""
      expect(begun(raw, "messages").startsWith(begun(before, "messages"))).toBe(true)
      expect(begun(raw, "messages").length).toBeGreaterThan(begun(before, "messages").length)
      expect(begun(raw, "tools")).toBe(begun(before, "tools"))
    }
    const first = await provider.came(1)
    const sent = first.body.tools as { name?: string; function?: { name: string } }[]
    const names = sent.map((one) => one.name ?? one.function?.name)
    expect(names).toEqual(["a", "b", "c"])
  })
})
