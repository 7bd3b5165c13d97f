import { expect, test } from "vitest"
import { checkAgents } from "../src/check/agents.ts"
import { listsOf, placesOf, type Finding } from "../src/check/lists.ts"
import { readConfig } from "../src/config.ts"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { scratchFolder } from "./redis.ts"

const path = join(await scratchFolder("check-agents"), "countersign.yaml")
const TOOLS = ["get_status", "restart_service", "scale_service"]
const FINDINGS = new Map<string, Finding>([
  ["U0ADA", { kind: "counts", users: new Set(["U0ADA"]) }],
  ["U0BOB", { kind: "counts", users: new Set(["U0BOB"]) }],
  ["U0REQ", { kind: "counts", users: new Set(["U0REQ"]) }],
  ["S0SRE", { kind: "counts", users: new Set(["U0ADA", "U0BOB"]) }],
])

function read(agent: Record<string, unknown>, more: Record<string, unknown> = {}) {
  const settings = {
    model: { provider: "demo" },
    starters: ["U0REQ"],
    channels: ["C0OPS"],
    approvers: ["S0SRE"],
    approvals: [{ tool: "get_*", do: "allow" }],
    agents: { web: { description: "Looks after the web tier", ...agent } },
    ...more,
  }
  writeFileSync(path, JSON.stringify(settings))
  return readConfig({ COUNTERSIGN_CONFIG: path })
}

function checked(agent: Record<string, unknown>): string[] {
  const { faults, warnings } = checkAgents(read(agent), TOOLS, FINDINGS)
  return [...faults, ...warnings].map((one) => one.replace(/^\/.*?countersign\.yaml:\d+: /, ""))
}

test.each<[says: string, agent: Record<string, unknown>, words: string | undefined]>([
  ["nothing", {}, undefined],
  [
    "what all can satisfy",
    { tools: ["get_*", "scale_*"], approvers: ["U0ADA"], starters: ["U0REQ"], channels: ["C0OPS"] },
    undefined,
  ],
  ["a tool that there is not", { tools: ["drop_*"] }, "agents.web.tools[0]: no tool's name is drop_*"],
  [
    "a rule about a tool that it does not have",
    { tools: ["get_*"], approvals: [{ tool: "restart_service", do: "deny" }] },
    "agents.web.approvals[0]: no tool's name is restart_service; there is get_status",
  ],
  [
    "a rule that never matches",
    {
      approvals: [
        { tool: "*", do: "ask" },
        { tool: "get_status", do: "deny" },
      ],
    },
    "agents.web.approvals[1]: get_status never gets that far",
  ],
  [
    "approvers of whom none is the file's",
    { approvers: ["U0REQ"] },
    "agents.web: nobody can approve restart_service, scale_service: it takes 1 on the lists of the file and of the agent, and nobody is on both",
  ],
  [
    "more approvers than are on both lists",
    { approvers: ["U0ADA"], quorum: 2 },
    "it takes 2 on the lists of the file and of the agent, and one person is on both",
  ],
  [
    "that the requester alone confirms, where the file wants somebody else",
    { selfApproval: "confirm" },
    "Say the same in both",
  ],
  [
    "a channel that is none of the file's",
    { channels: ["C0DB"] },
    "agents.web.channels[0]: C0DB is none of the file's channels",
  ],
  ["starters who are none of the file's", { starters: ["U0BOB"] }, "agents.web.starters: nobody may use it"],
])("an agent that says %s", (_, agent, words) => {
  expect(checked(agent)).toEqual(words === undefined ? [] : [expect.stringContaining(words)])
})

test("the channel for what is asked in direct messages, and the people of doors, are looked up, too", () => {
  const doors = { mention: { starters: ["U0M"] }, reply: false, message: { cards: "C0CARDS", starters: ["U0D"] } }
  const { known } = read({}, { doors })
  const idsOf = (lists: ReturnType<typeof listsOf>) => Object.fromEntries(lists.map(({ name, ids }) => [name, ids]))
  expect(idsOf(placesOf(known))).toMatchObject({ "doors.message.cards": ["C0CARDS"] })
  expect(idsOf(listsOf(known))).toMatchObject({ "doors.mention.starters": ["U0M"], "doors.message.starters": ["U0D"] })
  expect(Object.keys(idsOf(listsOf(known)))).not.toContain("doors.command.starters")
})

test("the people and places of agents are looked up like the file's", () => {
  const { known } = read({
    starters: ["U0S"],
    approvers: ["U0A"],
    channels: ["C0X"],
    cards: { channel: "C0CARDS" },
    approvals: [{ tool: "x", do: "ask", approvers: ["U0R"], escalate: { after: "1m", to: ["U0E"] } }],
  })
  expect(Object.fromEntries(listsOf(known).map(({ name, ids }) => [name, ids]))).toMatchObject({
    "agents.web.starters": ["U0S"],
    "agents.web.approvers": ["U0A"],
    "agents.web.approvals[0].approvers": ["U0R"],
    "agents.web.approvals[0].escalate.to": ["U0E"],
  })
  expect(Object.fromEntries(placesOf(known).map(({ name, ids }) => [name, ids]))).toMatchObject({
    "agents.web.channels": ["C0X"],
    "agents.web.cards.channel": ["C0CARDS"],
  })
})
