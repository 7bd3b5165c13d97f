import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { canonical } from "../../../src/core/digest.ts"
import type { Rule } from "../../../src/core/policy.ts"
import type { Ask, Grant, Run, Settled } from "../../../src/core/run.ts"
import { argsMessages, card, minimal, type CardView } from "../../../src/slack/blocks/card.ts"
import { fits, type Message } from "../../../src/slack/blocks/limits.ts"
import { until } from "../../../src/slack/blocks/rich.ts"
import { alikeWords } from "../../../src/slack/blocks/rule.ts"
import { sampleRun, sampleView } from "../../../src/slack/blocks/samples.ts"
import { visibleJson } from "../../../src/slack/blocks/text.ts"
import { checkBlocks } from "../../../src/sandbox/validate.ts"
import { ATTACKS, hostile, live, nodes, readable } from "./hostile.ts"

const everyId = (message: Message): unknown[] =>
  nodes(message.blocks).flatMap((node) => (node.type === "button" ? [node["action_id"]] : []))
/** But for Details, which every card that waits has. */
const idsOf = (message: Message): unknown[] => everyId(message).filter((id) => id !== "details")
const ruled = (rule: Partial<Rule>): Partial<Ask> => ({ rule: { ...sampleView().ask.rule, ...rule } })
const json = (args: unknown): string => canonical(args)
const preformatted = (message: Message): string =>
  nodes(message.blocks)
    .filter((node) => node.type === "rich_text_preformatted")
    .map((node) =>
      nodes(node["elements"])
        .map((element) => element["text"])
        .join(""),
    )
    .join("\n")
const settled = (change: Partial<Settled> = {}): Partial<Ask> => ({
  settled: {
    ok: true,
    by: { team: "T0HOME", user: "U0BEN", name: "Ben" },
    via: "click",
    at: Date.UTC(2026, 10, 29, 11, 35),
    cause: "c",
    ...change,
  },
})
const asking = (kind: string, more: object = {}): CardView =>
  sampleView({}, { from: "tool" }, { kind, prompt: "Go?", ...more })

describe("the args", () => {
  test("stand on the card whole, as the canonical text that runs, keys and trailing blanks and all", () => {
    const args = json({ argv: ["git ", "status"], cwd: "/x", env: { PATH: "/evil" } })
    expect(preformatted(card(sampleView({ args })))).toBe(args)
  })

  test.each(ATTACKS)("%j is text and nothing more", (attack) => {
    const args = json({ command: attack })
    const message = card(sampleView({ args }))
    expect(JSON.parse(preformatted(message))).toEqual({ command: attack })
    expect(live(message).map((node) => node.type)).toEqual(["date", "button", "button", "button"])
  })

  test("of a long call are looked at once, however often its messages are rendered", () => {
    const view = sampleView({ args: json({ note: "\u200b".repeat(50_000) }) })
    const taking = (times: number): number => {
      const begun = performance.now()
      for (let n = 0; n < times; n++) expect([card(view), ...argsMessages(view)].length).toBeGreaterThan(40)
      return performance.now() - begun
    }
    const first = taking(1)
    expect(taking(3)).toBeLessThan(first)
  })

  test("with hidden characters show them, and the card says so", () => {
    const args = json({ host: "a\u202eb", tag: "\u{e0041}" })
    expect(preformatted(card(sampleView({ args })))).toBe(String.raw`{"host":"a\u202eb","tag":"\udb40\udc41"}`)
    expect(readable(card(sampleView({ args })))).toContain("characters that can't be seen")
  })

  test("with a host that poses as another name the real one", () => {
    expect(readable(card(sampleView({ args: json({ url: "https://аpple.com" }) })))).toContain("xn--pple-43d.com")
  })

  test("with secrets are masked everywhere, counted, and can be shown", () => {
    const secrets = {
      command: "curl -H 'Authorization: Bearer xoxb-1111-2222-abc' postgres://u:p4ss@h",
      key: "-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----",
    }
    const view = sampleView(
      {
        args: json(secrets),
        why: `because password=hunter2 ${secrets.command}`,
        run: { ...sampleRun, title: secrets.command },
      },
      {},
      { prompt: secrets.command },
    )
    for (const message of [card(view), minimal(view), card({ ...view, ask: { ...view.ask, ...settled() } })]) {
      expect(JSON.stringify(message)).not.toMatch(/1111|p4ss|MIIEvQ|hunter2/)
    }
    expect(readable(card(view))).toContain("3 values masked")
    expect(idsOf(card(view))).toEqual(["approve", "decline", "reveal"])
  })
})

describe("args too long for the card", () => {
  const command = `echo ok${" ".repeat(4000)}; rm -rf /data; ${"word ".repeat(2000)}`
  const view = sampleView({ args: json({ command }) })

  test("stand in the thread whole, in order, with fingerprint and length", () => {
    const messages = argsMessages(view)
    expect(messages.map(preformatted).join("")).toBe(view.args)
    for (const message of messages) {
      expect(fits(message)).toEqual([])
      expect(checkBlocks(structuredClone(message.blocks))).toMatchObject({ ok: true })
      expect(readable(message)).toContain(view.ask.digest.slice(0, 12))
      expect(readable(message)).toContain(view.args.length.toLocaleString("en-US"))
    }
  })

  test("are not shown in part on the card, and it offers no yes before all of them stand", () => {
    const before = card(view)
    expect(preformatted(before)).toBe("")
    expect(readable(before)).toContain(view.args.length.toLocaleString("en-US"))
    expect(idsOf(before)).toEqual(["decline"])
    expect(idsOf(card({ ...view, argsPosted: true }))).toEqual(["approve", "decline"])
  })

  test("each part may be as long as its room, and the card fits", () => {
    const data = { table: "x".repeat(980) }
    const request = { prompt: "p".repeat(3190), url: `https://e.example/${"x".repeat(670)}`, data }
    const rest = { args: json({ note: "x".repeat(2380) }), why: "why ".repeat(1000), mention: true, argsPosted: true }
    const full = sampleView(rest, { from: "tool" }, request)
    expect(argsMessages(full)).toEqual([])
    expect(idsOf(card(full))).toEqual(["approve", "decline"])
  })

  test("nothing is posted for args that the card has room for", () => {
    expect(argsMessages(sampleView())).toEqual([])
  })

  test("stay the same messages when the ask is settled or all is posted", () => {
    expect(argsMessages({ ...view, argsPosted: true, ask: { ...view.ask, ...settled() } })).toEqual(argsMessages(view))
  })

  test("a tool's long question and details are put the same way", () => {
    const long = sampleView({}, { from: "tool" }, { prompt: "why? ".repeat(1000), data: { table: "x".repeat(3000) } })
    const text = argsMessages(long).map(preformatted).join("")
    expect(text).toContain("why? ".repeat(1000).trimEnd())
    expect(text).toContain("x".repeat(3000))
    expect(idsOf(card(long))).toEqual(["decline"])
  })
})

describe("whatever the texts", () => {
  const view = fc.record({
    args: fc.dictionary(hostile, fc.oneof(hostile, fc.integer(), fc.array(hostile, { maxLength: 3 })), { maxKeys: 4 }),
    prompt: hostile,
    why: hostile,
    title: hostile,
    name: hostile,
    tool: hostile,
    from: fc.constantFrom<Ask["from"]>("guard", "tool", "doubt"),
    kind: fc.constantFrom("approval", "input", "authorization", "question", "other"),
    mention: fc.boolean(),
    posted: fc.boolean(),
    done: fc.constantFrom(undefined, true, false),
    note: hostile,
  })

  test("a card fits, has no element made of foreign text, and offers a yes only when all can be read", () => {
    fc.assert(
      fc.property(view, (it) => {
        const wellFormed = JSON.parse(JSON.stringify(it).toWellFormed()) as typeof it
        const args = canonical(wellFormed.args)
        const made = sampleView(
          {
            args,
            why: it.why,
            run: {
              ...sampleRun,
              title: it.title.slice(0, 150),
              requester: { team: "T0HOME", user: "U0ANA", name: it.name },
            },
            names: { S0SRE: it.name, U0BEN: it.name },
            mention: it.mention,
            argsPosted: it.posted,
          },
          {
            tool: it.tool,
            from: it.from,
            ...(it.done === undefined ? {} : settled({ ok: it.done, by: { team: "T", user: "U0BEN", name: it.name } })),
          },
          { kind: it.kind, prompt: it.prompt, data: { note: wellFormed.note } },
        )
        const message = card(made)
        expect(fits(message)).toEqual([])
        expect(checkBlocks(structuredClone(message.blocks))).toMatchObject({ ok: true })
        expect(message.text).not.toMatch(/[<>\n]/)
        const extra = live(message).filter((node) => node.type !== "date" && node.type !== "button")
        const pinged = it.mention && it.done === undefined
        expect(extra).toEqual(
          pinged
            ? [
                { type: "usergroup", usergroup_id: "S0SRE" },
                { type: "user", user_id: "U0BEN" },
              ]
            : [],
        )
        const offersYes = idsOf(message).some((id) => !["decline", "reveal", "failed"].includes(String(id)))
        const inThread = argsMessages(made)
        if (offersYes) expect(inThread.length === 0 || it.posted).toBe(true)
        if (it.done !== undefined) expect(idsOf(message)).toEqual([])
        for (const part of inThread) {
          expect(fits(part)).toEqual([])
          expect(live(part)).toEqual([])
        }
      }),
      { numRuns: 80 },
    )
  })

  test("what is shown of args without secrets is, parsed, what runs", () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string(),
          fc.oneof(fc.string({ unit: "grapheme" }), fc.double({ noNaN: true, noDefaultInfinity: true })),
        ),
        (value) => {
          const args = canonical(JSON.parse(JSON.stringify(value).toWellFormed()))
          const made = sampleView({ args })
          const message = card(made)
          if (readable(message).includes("masked")) return
          const text = preformatted(message) || argsMessages(made).map(preformatted).join("")
          expect(text).toBe(visibleJson(args))
          expect(JSON.parse(text)).toEqual(JSON.parse(args))
        },
      ),
    )
  })
})

describe("who and when", () => {
  test("the first card of a turn pings those who may decide; no other does", () => {
    const pings = (message: Message) => live(message).filter(({ type }) => type === "user" || type === "usergroup")
    expect(pings(card(sampleView({ mention: true })))).toEqual([
      { type: "usergroup", usergroup_id: "S0SRE" },
      { type: "user", user_id: "U0BEN" },
    ])
    expect(pings(card(sampleView()))).toEqual([])
    expect(readable(card(sampleView()))).toContain("SRE on call (S0SRE), Ben Okafor (U0BEN)")
    expect(pings(card(sampleView({ mention: true }, settled())))).toEqual([])
  })

  test("the deadline is a date of Slack's with UTC beside it", () => {
    expect(live(card(sampleView()))[0]).toEqual({
      type: "date",
      timestamp: 1_795_955_400,
      format: "{date_short_pretty} at {time}",
      fallback: "2026-11-29 12:30 UTC",
    })
    expect(readable(card(sampleView()))).toContain("(2026-11-29 12:30 UTC)")
  })

  test.each([253_402_300_799_000, Number.MAX_SAFE_INTEGER])(
    "a deadline in %d ms is shown as well as can be",
    (expiresAt) => {
      const message = card(sampleView({}, { expiresAt }))
      expect(fits(message)).toEqual([])
      expect(checkBlocks(structuredClone(message.blocks))).toMatchObject({ ok: true })
      expect(readable(message)).toMatch(/Decide by .*(9999-12-31 23:59 UTC|the end of time)/)
    },
  )

  test("confirming alone names the requester; an empty list says that nobody can", () => {
    const rule = sampleView().ask.rule
    expect(readable(card(sampleView({}, { rule: { ...rule, selfApproval: "confirm" } })))).toContain(
      "Ana Ruiz (U0ANA), who asked",
    )
    expect(readable(card(sampleView({}, { rule: { ...rule, approvers: [] } })))).toContain("nobody")
    expect(readable(card(sampleView({}, { rule: { ...rule, selfApproval: true } })))).not.toContain("may only decline")
  })

  test("an id without a known name says what it stands for", () => {
    const rule = { ...sampleView().ask.rule, approvers: ["U0BEN", "S0SRE", "C0OPS"] }
    expect(readable(card(sampleView({ names: {} }, { rule })))).toContain(
      "U0BEN, user group S0SRE, members of channel C0OPS;",
    )
  })

  test("many approvers are counted, not cut without a word", () => {
    const approvers = Array.from({ length: 40 }, (_, n) => `U${String(n).padStart(3, "0")}`)
    const message = card(sampleView({}, { rule: { ...sampleView().ask.rule, approvers } }))
    expect(readable(message)).toContain("and 28 more")
  })
})

describe("what can be pressed", () => {
  test.each<[string, CardView, string[]]>([
    ["an approval", sampleView(), ["approve", "decline"]],
    ["a tool's approval", asking("approval"), ["approve", "decline"]],
    ["a sign-in", asking("authorization", { url: "https://login.example" }), ["sign-in", "approve", "decline"]],
    ["a question", asking("question"), ["answer", "decline"]],
    ["an input", asking("input"), ["answer", "decline"]],
    ["any other kind", asking("handshake"), ["approve", "decline"]],
    [
      "an answer in fields",
      asking("input", { data: { schema: { type: "object", properties: {} } } }),
      ["answer", "decline"],
    ],
    ["calls to relay", asking("tool_call"), ["decline"]],
    [
      "a rule that wants reasons",
      sampleView({}, ruled({ reason: { approve: "optional", decline: "required" } })),
      ["approve:why", "decline:why"],
    ],
    [
      "a rule that wants one of a no",
      sampleView({}, ruled({ reason: { decline: "optional" } })),
      ["approve", "decline:why"],
    ],
    [
      "a doubt that wants reasons",
      sampleView(
        {},
        { from: "doubt", ...ruled({ reason: { approve: "required", decline: "required" } }) },
        { kind: "doubt" },
      ),
      ["done:why", "again:why", "failed:why"],
    ],
    ["a rule with a grant", sampleView({}, ruled({ grant: { for: 3_600_000 } })), ["approve", "grant", "decline"]],
    [
      "a grant where several decide",
      sampleView({}, ruled({ grant: { for: 3_600_000 }, quorum: 2 })),
      ["approve", "decline"],
    ],
    ["a rule with edits", sampleView({}, ruled({ edit: { by: "approvers" } })), ["approve", "edit", "decline"]],
    [
      "args that no form holds",
      sampleView({ editable: false }, ruled({ edit: { by: "approvers" } })),
      ["approve", "decline"],
    ],
    [
      "edits of a tool's own question",
      sampleView({}, { from: "tool", ...ruled({ edit: { by: "approvers" } }) }),
      ["approve", "decline"],
    ],
    ["a guard whatever its kind", sampleView({}, { from: "guard" }, { kind: "input" }), ["approve", "decline"]],
    ["a doubt", sampleView({}, { from: "doubt" }, { kind: "doubt" }), ["done", "again", "failed"]],
    ["anything while paused", sampleView({ paused: true }), ["decline"]],
    ["an id too long for a button", sampleView({}, { id: "x".repeat(2000) }), []],
  ])("for %s", (_, view, ids) => {
    expect(idsOf(card(view))).toEqual(ids)
    expect(fits(card(view))).toEqual([])
  })

  test("nothing on a settled card, which says who, what, when and what came of it", () => {
    const message = card(sampleView({}, { ...settled(), ran: "error" }))
    expect(live(message).map(({ type }) => type)).toEqual(["date"])
    expect(readable(message)).toContain("Approved by Ben (U0BEN), ")
    expect(readable(message)).toContain("(2026-11-29 11:35 UTC). The call ran and ended with an error.")
  })

  test("every button has a label that says which call it is about", () => {
    const buttons = nodes(card(sampleView({ args: '{"password":"x1"}' })).blocks).filter(
      ({ type }) => type === "button",
    )
    expect(buttons).toHaveLength(4)
    for (const button of buttons) expect(button["accessibility_label"]).toMatch(/: restart$/)
  })

  test("nothing opens the address of a sign-in, or tells more of it than the host", () => {
    const message = card(asking("authorization", { url: "https://login.example/device?flow=42" }))
    expect(nodes(message.blocks).filter((node) => "url" in node)).toEqual([])
    expect(JSON.stringify(message)).not.toContain("flow")
    expect(readable(message)).toContain("Sign in at login.example. The address is shown to Ana Ruiz (U0ANA) alone")
    const view = asking("authorization", { url: "https://login.example/device?flow=42" })
    const spoken = card({ ...view, run: { ...view.run, asker: { team: "T1", user: "U0BEN", name: "Ben" } } })
    expect(readable(spoken)).toContain("The address is shown to Ben (U0BEN) alone")
  })
})

describe("several who decide", () => {
  const AT = Date.UTC(2026, 10, 29, 11, 33)
  const vote = (user: string, name: string) => ({ by: { team: "T0HOME", user, name }, at: AT, cause: user })
  const voted = (change: Partial<Ask> = {}) => card(sampleView({}, { ...ruled({ quorum: 3 }), ...change }))

  test("are counted, named and waited for, on the card and in its sentence", () => {
    expect(readable(voted())).toContain("Approved by 0 of 3: nobody yet. 3 people must approve; one decline")
    const two = voted({ votes: [vote("U0BEN", "Ben"), vote("U0CID", "Cid")] })
    expect(readable(two)).toMatch(
      /Approved by 2 of 3: Ben \(U0BEN\), .*11:33 UTC\); Cid \(U0CID\), .*One more person must/,
    )
    expect(two.text).toContain("Approved by 2 of 3.")
    expect(fits(two)).toEqual([])
  })

  test("are all named when it is settled", () => {
    const votes = [vote("U0CID", "Cid"), vote("U0BEN", "Ben")]
    expect(readable(voted({ votes, ...settled() }))).toContain("Approved by Cid (U0CID) and Ben (U0BEN), ")
    expect(readable(voted({ votes, ...settled({ ok: false, reason: "declined" }) }))).toContain(
      "Declined by Ben (U0BEN), ",
    )
  })

  test("from several lists, and those brought in later, are said", () => {
    const rule = ruled({ also: [["C0LEGAL"]], escalate: { after: 60_000, to: ["S0LEADS"] } })
    expect(readable(card(sampleView({}, rule)))).toContain("; who must also be one of members of channel C0LEGAL;")
    expect(readable(card(sampleView({}, rule)))).not.toContain("LEADS")
    expect(readable(card(sampleView({}, { ...rule, escalated: AT })))).toMatch(/Brought in .*: user group S0LEADS/)
  })
})

describe("what was said and changed", () => {
  test("the reason stands on a settled card, as a quote, masked", () => {
    const note = "not now: *freeze* until Monday, password=hunter2 <!channel>"
    const message = card(sampleView({ note }, settled({ ok: false, reason: "declined" })))
    expect(readable(message)).toContain("Reason, in the words of Ben (U0BEN):")
    expect(readable(message)).toContain("*freeze* until Monday")
    expect(JSON.stringify(message)).not.toContain("hunter2")
    expect(live(message).map(({ type }) => type)).toEqual(["date"])
  })

  test("an edited card says what was what, and by whom", () => {
    const editors = [{ team: "T0HOME", user: "U0BEN", name: "Ben" }]
    const before = json({ env: "prod", note: "a", keep: [1] })
    const args = json({ env: "staging", count: 0, keep: [1] })
    const message = card(sampleView({ before, args }, { version: 2, edit: 1, editors }))
    expect(readable(message)).toContain("Changed by Ben (U0BEN), since the agent asked (now version 2)")
    // Asked once more, it is still another call than the agent wanted.
    const again = card(sampleView({ before, args }, { from: "doubt", edit: 1, editors }))
    expect(readable(again)).toMatch(/Changed by Ben \(U0BEN\), since the agent asked(?! \()/)
    expect(readable(card(sampleView({ before, args }, { from: "tool", edit: 1 })))).not.toContain("Changed by")
    expect(readable(message)).toContain('env: "prod"  →  "staging"')
    expect(readable(message)).toContain('note: "a"  →  (not there)')
    expect(readable(message)).toContain("count: (not there)  →  0")
    expect(readable(message)).not.toContain("keep:")
    expect(readable(message)).toContain("; Ben (U0BEN) changed it and may only decline")
    const lax = sampleView(
      { before, args },
      { version: 2, edit: 1, editors, ...ruled({ edit: { by: "approvers", votes: true } }) },
    )
    expect(readable(card(lax))).not.toContain("changed it and may only")
    expect(preformatted(message)).toBe(args)
  })

  test("a change at a name with dots in it is told from one further down", () => {
    const [before, args] = [json({ "a.b": 1, a: { b: 2 } }), json({ "a.b": 3, a: { b: 2 } })]
    expect(readable(card(sampleView({ before, args }, { version: 2, edit: 1 })))).toMatch(/"a\.b": 1 +→ +3/)
  })

  test("a masked value that was changed is a change, and stays masked", () => {
    const [before, args] = ["hunter2", "hunter3"].map((password) => json({ password }))
    const message = card(sampleView({ before: before ?? "", args: args ?? "" }, { version: 2, edit: 1, editors: [] }))
    expect(readable(message)).toContain("password: ")
    expect(JSON.stringify(message)).not.toContain("hunter")
  })
})

describe("at a glance", () => {
  const call = (change: object): Run => ({
    ...sampleRun,
    calls: [{ id: "1.1", ref: "c", tool: "restart", effects: "once", digest: "", state: "asked", ...change }],
  })

  test.each([
    [{ effects: "none" }, "Read-only: it changes nothing."],
    [{ effects: "repeatable" }, "Has effects. Running it twice"],
    [{ effects: "once" }, "Has effects. (As the tool declares.)"],
    [{ effects: "once", destructive: true }, "⚠ Destructive: what it does may not be undone. (As the tool declares.)"],
    // What a server says of its tool stands there as its words.
    [{ hints: {} }, "Has effects. (Its server says nothing of what it does.)"],
    [{ hints: { readOnly: true } }, "Has effects. (Its server says: read-only. Nobody has checked that.)"],
    [
      { effects: "none", hints: { readOnly: true, openWorld: true } },
      "Read-only: it changes nothing. (Its server says: read-only, reaches others. Nobody has checked that.)",
    ],
    [
      { destructive: true, hints: { readOnly: false, destructive: true, idempotent: false } },
      "⚠ Destructive: what it does may not be undone. (Its server says: not read-only, destructive, not to be repeated. Nobody has checked that.)",
    ],
    [
      { effects: "repeatable", hints: { destructive: false, idempotent: true, openWorld: false } },
      "(Its server says: not destructive, may be repeated. Nobody has checked that.)",
    ],
    [
      { hints: {}, since: "appeared" },
      "⚠ This tool appeared after the bot started, so no rule with a wildcard lets it",
    ],
    [{ hints: {}, since: "changed" }, "⚠ This tool changed after the bot started"],
  ])("%j: %s", (change, words) => {
    expect(readable(card(sampleView({ run: call(change) })))).toContain(words)
  })

  test("a doubt says what each choice will do", () => {
    const text = readable(card(sampleView({}, { from: "doubt" }, { kind: "doubt" })))
    for (const words of [
      "It was done: it is not run again",
      "what it did before may happen twice",
      "It failed: it is not",
    ])
      expect(text).toContain(words)
  })

  test("a grant says on its button and before it counts what is granted", () => {
    const grant = { for: 3_600_000, same: ["env", "service"] }
    const found = nodes(card(sampleView({}, ruled({ grant }))).blocks).find((node) => node["action_id"] === "grant")
    expect(found?.["text"]).toMatchObject({ text: "Approve for 1 hour" })
    const words =
      'or 1 hour, calls of this tool in this run with the same env ("staging"), service ("web") are not asked about again.'
    expect(found?.["confirm"]).toMatchObject({ text: { text: `This approves the call. F${words}` } })
    expect(readable(card(sampleView({}, ruled({ grant }))))).toContain(
      `“Approve for 1 hour” approves this call and more: f${words}`,
    )
  })
})

describe("an address to open", () => {
  const links = (url: string) => live(card(asking("handshake", { url }))).filter(({ type }) => type === "link")

  test("is a link that shows all of itself", () => {
    const url = "https://login.example/device?state=9f8e&scope=a%20b#x"
    expect(links(url)).toEqual([{ type: "link", url, text: url }])
  })

  test("shows the host as it really is", () => {
    expect(links("https://аpple.com/")).toEqual([
      { type: "link", url: "https://xn--pple-43d.com/", text: "https://xn--pple-43d.com/" },
    ])
    for (const kind of ["handshake", "authorization"]) {
      expect(readable(card(asking(kind, { url: "https://аpple.com/" })))).toContain("really the host xn--")
    }
  })

  test("without encryption is text, with a warning", () => {
    expect(links("http://login.example/")).toEqual([])
    expect(readable(card(asking("handshake", { url: "http://login.example/" })))).toMatch(
      /http:\/\/login\.example\/[^]*not encrypted/,
    )
  })

  test("with a secret in it is masked text", () => {
    const message = card(asking("handshake", { url: "https://login.example/?access_token=abc123" }))
    expect(JSON.stringify(message)).not.toContain("abc123")
    expect(live(message).filter(({ type }) => type === "link")).toEqual([])
  })
})

test("the minimal card says who may decide and until when, and takes a no alone", () => {
  const message = minimal(sampleView({ mention: true, args: '{"password":"x1"}' }))
  expect(idsOf(message)).toEqual(["decline"])
  expect(live(message).map(({ type }) => type)).toEqual(["date", "usergroup", "user", "button"])
  expect(readable(message)).not.toContain("paused")
  expect(idsOf(minimal(sampleView({}, settled())))).toEqual([])
})

test("a prompt of 3,000 characters with many to escape still fits, open and settled", () => {
  const prompt = `${">".repeat(20)}&&${"x".repeat(2978)}`
  const view = sampleView({}, { from: "tool" }, { prompt })
  expect(readable(card(view))).toContain(prompt)
  expect(fits(card(view))).toEqual([])
  expect(fits(card({ ...view, ask: { ...view.ask, ...settled() } }))).toEqual([])
})

test("a deadline that is near is shown to the second, one that is far to the minute", () => {
  const at = Date.UTC(2026, 10, 29, 12, 0, 17)
  const near = JSON.stringify(until({ at, expiresAt: at + 45_000 }))
  const far = JSON.stringify(until({ at, expiresAt: at + 3_600_000 }))
  expect(near).toContain("{time_secs}")
  expect(near).toContain("(2026-11-29 12:01:02 UTC)")
  expect(far).toContain("{time}")
  expect(far).toContain("(2026-11-29 13:00 UTC)")
})

describe("a yes that lets the like of it run for a while", () => {
  const AT = Date.UTC(2026, 10, 29, 11, 33)
  const grant: Grant = {
    id: "g",
    ask: sampleView().ask.id,
    tool: "restart",
    mark: "m",
    rule: { ...sampleView().ask.rule, grant: { for: 3_600_000, same: ["service"] } },
    by: { team: "T0HOME", user: "U0BEN", name: "Ben" },
    at: AT,
    until: AT + 3_600_000,
  }
  const settled = { ok: true, by: grant.by, via: "click", at: AT, cause: "c" } as const

  test("says so where it stands, with the values that count", () => {
    const view = sampleView({}, { settled })
    const text = readable(card({ ...view, run: { ...view.run, grants: [grant] } }))
    expect(text).toContain(`calls of this tool in this run with the same service ("web") run unasked until`)
    expect(readable(card(view))).not.toContain("unasked")
  })

  test("counts all arguments where one of its paths leads nowhere", () => {
    expect(alikeWords({ ...grant.rule, grant: { for: 1, same: ["nowhere"] } }, "{}")).toBe("the very same arguments")
  })

  test("hides what is masked", () => {
    const rule = { ...grant.rule, mask: ["args.service"] }
    expect(alikeWords(rule, '{"service":"s3cret-s3cret"}')).not.toContain("s3cret")
  })
})
