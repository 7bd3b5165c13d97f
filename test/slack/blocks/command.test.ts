import { describe, expect, test } from "vitest"
import { commandOf } from "../../../src/slack/blocks/command.ts"

const start = (prompt: string) => ({ kind: "start", prompt })

describe("a command", () => {
  test.each([
    ["", { kind: "help" }],
    ["  ", { kind: "help" }],
    ["help", { kind: "help" }],
    ["HELP ", { kind: "help" }],
    ["list", { kind: "list" }],
    ["List", { kind: "list" }],
    ["grants", { kind: "grants" }],
    ["tools", { kind: "tools" }],
    ["Tools @Web-2", { kind: "tools", agent: "web-2" }],
    ["tools @a/b", start("tools @a/b")],
    ["cancel r00abc", { kind: "cancel", run: "r00abc" }],
    ["cancel `r00abc`", { kind: "cancel", run: "r00abc" }],
    ["cancel", { kind: "cancel", run: "" }],
    ["show r00abc", { kind: "show", run: "r00abc" }],
    ["Show “r0”", { kind: "show", run: "r0" }],
    ["show", { kind: "show", run: "" }],
    ["why R00ABC", { kind: "why", run: "R00ABC" }],
    ["why", { kind: "why", run: "" }],
    ["revoke r00abc.1", { kind: "revoke", grant: "r00abc.1" }],
    ["revoke `g0-pnd-0af3`", { kind: "revoke", grant: "g0-pnd-0af3" }],
    ["revoke", { kind: "revoke", grant: "" }],
    ["sign-out", { kind: "sign-out", server: "" }],
    ["Sign-out notes", { kind: "sign-out", server: "notes" }],
    ["sign-out “my notes”", { kind: "sign-out", server: "my notes" }],
    ["sign-out of the shop is broken", start("sign-out of the shop is broken")],
    ["a &amp;&amp; b &lt;c&gt; &amp;lt;", start("a && b <c> &lt;")],
    [" two\nlines ", start("two\nlines")],
  ])("%j", (text, command) => {
    expect(commandOf(text)).toEqual(command)
  })

  test.each([
    "list the failing pods",
    "help me with the deploy",
    "cancel the deploy of web",
    "show status",
    "show replicas",
    "show r00abc and restart it",
    "why is web slow",
    "why web?",
    "revoke access",
    "grants of Ada",
    "toString",
    "constructor x",
  ])("%j is something to do", (text) => {
    expect(commandOf(text)).toEqual(start(text))
  })
})
