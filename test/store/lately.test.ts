import { describe, expect, test } from "vitest"
import { lostOf, readSlots, type Copy } from "../../src/slack/show/record.ts"
import { Lately } from "../../src/store/lately.ts"

describe("what Redis lately acknowledged", () => {
  test("is told once for each run in question, and forgotten after a minute", () => {
    let now = 0
    const lately = new Lately(() => now)
    lately.acknowledged("old", "root", "{}")
    now = 60_001
    lately.acknowledged("web", "root", "1")
    lately.acknowledged("web", "root", "2")
    lately.acknowledged("api", "root", "3")
    expect(lately.taken("web")).toEqual(new Map())
    lately.question()
    expect(lately.inQuestion()).toEqual(["web", "api"])
    expect(lately.taken("web")).toEqual(new Map([["root", "2"]]))
    expect(lately.taken("web")).toEqual(new Map())
    expect(lately.inQuestion()).toEqual(["api"])
    lately.acknowledged("web", "root", "2", "in question")
    expect(lately.inQuestion()).toEqual(["api", "web"])
  })

  test("and has no more, leaves messages whose content is not known, or about nothing that is stored", () => {
    const copy = (ts: string, hash: string): Copy => ({ channel: "C1", ts, hash })
    const sent = (...copies: Copy[]) => JSON.stringify({ copies, done: true })
    const stored = { root: sent(copy("1", "a")), "card:x": sent(copy("2", "old")), "card:y": "{}" }
    const slots = readSlots({ owed: new Map(), sent: new Map(Object.entries(stored)), copies: new Map() }, "C1")
    const acknowledged = {
      root: sent(copy("1", "a")),
      "card:x": sent(copy("2", "new")),
      "card:y": sent(copy("3", "b")),
      "card:z": sent(copy("4", "c"), { ...copy("5", "d"), dead: true }),
    }
    const { wrong, orphans } = lostOf(slots, new Map(Object.entries(acknowledged)))
    expect(wrong.map(({ name, sent: { copies, done } }) => ({ name, copies, done }))).toEqual([
      { name: "card:x", copies: [copy("2", "")], done: undefined },
      { name: "card:y", copies: [copy("3", "")], done: undefined },
    ])
    expect(orphans).toEqual([{ name: "card:z", copy: copy("4", "c") }])
  })
})
