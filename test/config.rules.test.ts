import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { readConfig } from "../src/config.ts"
import { scratchFolder } from "./redis.ts"

const folder = await scratchFolder("config-rules")
const ENV = { SLACK_BOT_TOKEN: "xoxb-1-secret", SLACK_APP_TOKEN: "xapp-1-secret" }
const LEAST =
  "model: { provider: demo }\nstarters: [ U1 ]\nchannels: [ C1 ]\napprovers: [ U2 ]\naudit: { channel: C2 }\n"

let files = 0
function read(rest: string) {
  const path = join(folder, `${++files}.yaml`)
  writeFileSync(path, LEAST + rest)
  return readConfig({ ...ENV, COUNTERSIGN_CONFIG: path })
}

/** The faults from the place on, without the file's path. */
const faults = (rest: string): string[] => read(rest).faults.map((fault) => fault.replace(/^.*?\.yaml:\d+: /, ""))

function rules(rest: string) {
  const reading = read(rest)
  if (!reading.ok) throw new Error(reading.faults.join("\n"))
  return reading.config
}

describe("a rule", () => {
  test("may say all there is to say about asking, durations in ms", () => {
    const { approvals } = rules(`
approvals:
  - tool: deploy
    when: { env: prod, "target.region": [ eu, us ], dry: false }
    do: ask
    approvers: [ S0SRE, U0123, C0OPS ]
    quorum: 2
    selfApproval: false
    expiresIn: 30m
    startWithin: 15m
    notify: dm
    cards: { channel: C0APPROVALS }
    remind: [ 10m, 20m ]
    escalate: { after: 15m, to: [ S0LEADS ], channel: C0LEADS }
    reason: { decline: required, approve: optional }
    edit: approvers
    mask: [ "args.token", "args.headers.*" ]
  - { tool: restart, do: ask, grant: { for: 1h, same: [ env, service ] }, edit: { by: requester, votes: true } }
`)
    expect(approvals).toEqual([
      {
        tool: "deploy",
        when: { env: "prod", "target.region": ["eu", "us"], dry: false },
        do: "ask",
        approvers: ["S0SRE", "U0123", "C0OPS"],
        quorum: 2,
        selfApproval: false,
        expiresIn: 1_800_000,
        startWithin: 900_000,
        notify: "dm",
        cards: "C0APPROVALS",
        remind: [600_000, 1_200_000],
        escalate: { after: 900_000, to: ["S0LEADS"], channel: "C0LEADS" },
        reason: { decline: "required", approve: "optional" },
        edit: { by: "approvers" },
        mask: ["args.token", "args.headers.*"],
      },
      {
        tool: "restart",
        do: "ask",
        grant: { for: 3_600_000, same: ["env", "service"] },
        edit: { by: "requester", votes: true },
      },
    ])
  })

  test("stands as a default in the file for whatever no rule says otherwise", () => {
    expect(rules("quorum: 2\nremind: [ 5m ]\nreason: { decline: required }\nedit: off\n")).toMatchObject({
      quorum: 2,
      remind: [300_000],
      reason: { decline: "required" },
      edit: "off",
    })
  })

  test.each<[string, string, RegExp]>([
    ["a quorum of nobody", "quorum: 0", /^approvals\[0\]\.quorum must be a whole number of people from 1 to 20, not 0/],
    ["a quorum in words", "quorum: two", /^approvals\[0\]\.quorum must be a whole number/],
    ["reminders out of order", "remind: [ 20m, 10m ]", /^approvals\[0\]\.remind must grow/],
    ["an escalation to nobody", "escalate: { after: 1m, to: [] }", /^approvals\[0\]\.escalate\.to is empty/],
    [
      "an escalation after the end",
      "expiresIn: 5m, escalate: { after: 5m, to: [ S1 ] }",
      /escalates after it has expired/,
    ],
    ["a reminder after the end", "expiresIn: 5m, remind: [ 1m, 6m ]", /reminds after it has expired/],
    [
      "a quorum where one confirms alone",
      "quorum: 2, selfApproval: confirm",
      /has a quorum with selfApproval: confirm/,
    ],
    ["a grant with a quorum", "quorum: 2, grant: { for: 1h }", /has a grant with a quorum/],
    ["a grant without a time", "grant: {}", /^approvals\[0\]\.grant\.for is missing/],
    ["editing by anybody", "edit: everyone", /^approvals\[0\]\.edit must be off, approvers or requester/],
    ["a mask of no args", "mask: [ token ]", /^approvals\[0\]\.mask\[0\] must be a path, such as args\.token/],
    ["a misspelt key", "quorun: 2", /did you mean quorum\?/],
    [
      "a when of a name that nothing has",
      'when: { "__proto__": prod, env: dev }',
      /^approvals\[0\]\.when must not name __proto__/,
    ],
    ["an empty when", "when: {}", /^approvals\[0\]\.when is empty/],
    ["a when that is no mapping", "when: prod", /^approvals\[0\]\.when must be a mapping/],
    ["a value of when that is a mapping", "when: { env: { is: prod } }", /^approvals\[0\]\.when\.env must be a value/],
  ])("with %s is a fault", (_, says, words) => {
    expect(faults(`approvals: [ { tool: x, do: ask, ${says} } ]\n`)).toEqual([expect.stringMatching(words)])
  })

  test("that asks nobody says nothing about asking", () => {
    expect(faults("approvals: [ { tool: x, do: deny, quorum: 2, notify: dm } ]\n")).toEqual([
      "approvals[0] asks nobody: quorum, notify belong to a rule with do: ask.",
    ])
  })

  test("that allows, behind one with when, must say for which values it is meant", () => {
    const strict = "{ tool: deploy, when: { env: prod }, do: ask }"
    expect(faults(`approvals: [ ${strict}, { tool: "dep*", do: allow } ]\n`)).toEqual([
      expect.stringMatching(/^approvals\[1\] allows what approvals\[0\] lets slip by its when: give this rule a when/),
    ])
    expect(read(`approvals: [ ${strict}, { tool: "dep*", when: { env: dev }, do: allow } ]\n`).faults).toEqual([])
    expect(read(`approvals: [ ${strict}, { tool: "get_*", do: allow } ]\n`).faults).toEqual([])
    expect(read(`approvals: [ { tool: "get_*", do: allow }, ${strict} ]\n`).faults).toEqual([])
  })
})

test.each([
  ["quorum: 2", "{ tool: x, do: ask, selfApproval: confirm }", "quorum: 1"],
  ["selfApproval: confirm", "{ tool: x, do: ask, quorum: 2 }", "selfApproval: false"],
])("%s for all and %s, which nobody can satisfy together, is a fault of the rule", (file, rule, remedy) => {
  const list = `approvals: [ ${rule}, { tool: y, do: allow } ]`
  expect(faults(`${file}\n${list}`)).toEqual([
    expect.stringMatching(new RegExp(`^approvals\\[0\\] can be approved by nobody: .* Put ${remedy} into this rule`)),
  ])
  expect(faults(list)).toEqual([])
  expect(faults(`${file}\napprovals: [ ${rule.replace(" }", `, ${remedy} }`)} ]`)).toEqual([])
})
