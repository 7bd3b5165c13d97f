import { readFileSync } from "node:fs"
import { afterEach, beforeEach, expect, test } from "vitest"
import { parse } from "yaml"
import * as seed from "../../src/sandbox/seed.ts"
import { type SandboxSlack, startSlack } from "../../src/sandbox/slack.ts"
import { call } from "./call.ts"

let slack: SandboxSlack
beforeEach(async () => {
  slack = await startSlack()
})
afterEach(() => slack.close())

const channelOf = async (channel: string) => (await call(slack, "conversations.info", { channel }))["channel"]
const membersOf = async (channel: string) => (await call(slack, "conversations.members", { channel }))["members"]
const userOf = async (user: string) => (await call(slack, "users.info", { user }))["user"]

test("the app is granted what its manifest asks for, and no more", () => {
  const text = readFileSync(new URL("../../manifest.yml", import.meta.url), "utf8")
  const { oauth_config } = parse(text) as { oauth_config: { scopes: Record<string, string[]> } }
  expect(seed.SCOPES.toSorted()).toEqual(Object.values(oauth_config.scopes).flat().toSorted())
})

test("a guest is a member of the team, restricted", async () => {
  expect(await userOf(seed.GUS)).toMatchObject({ team_id: "T1", is_restricted: true, is_stranger: false })
  expect(await membersOf(seed.OPS)).toContain(seed.GUS)
})

test("who is met in a shared channel is no stranger, and foreign by the team alone", async () => {
  const met = { team_id: seed.FAY_TEAM, is_restricted: false, is_stranger: false, profile: { team: seed.FAY_TEAM } }
  expect(await userOf(seed.FAY)).toMatchObject(met)
  expect(await membersOf(seed.SHARED)).toContain(seed.FAY)
  slack.workspace.alterChannel(seed.SHARED, { kind: "private" })
  expect(await userOf(seed.FAY)).toMatchObject(met)
  slack.workspace.leave(seed.SHARED, seed.BOT)
  expect(await userOf(seed.FAY)).toMatchObject({ team_id: seed.FAY_TEAM, is_stranger: true })
})

test("rooms tell what makes their members count: private, unshared, with the bot in it", async () => {
  const closed = { is_private: true, is_shared: false, is_ext_shared: false, is_org_shared: false, is_member: true }
  expect(await channelOf(seed.APPROVALS)).toMatchObject({ ...closed, name: "approvals" })
  expect(await membersOf(seed.APPROVALS)).toEqual([seed.BOT, seed.ADA, seed.GRACE])
  expect(await channelOf(seed.LEADS_ROOM)).toMatchObject(closed)
  expect(await membersOf(seed.LEADS_ROOM)).toEqual([seed.BOT, seed.LENA])
  expect(await channelOf(seed.SHARED)).toMatchObject({ is_private: false, is_shared: true, is_ext_shared: true })

  slack.workspace.alterChannel(seed.APPROVALS, { is_org_shared: true })
  expect(await channelOf(seed.APPROVALS)).toMatchObject({ is_shared: true, is_ext_shared: false, is_org_shared: true })
  slack.workspace.alterChannel(seed.APPROVALS, { is_org_shared: false, is_pending_ext_shared: true })
  expect(await channelOf(seed.APPROVALS)).toMatchObject({ is_shared: false, is_pending_ext_shared: true })
})

test("a message carries its author's team", async () => {
  slack.workspace.say(seed.FAY, seed.SHARED, "hello from next door")
  slack.workspace.say(seed.ADA, seed.SHARED, "hello")
  const { messages } = await call(slack, "conversations.history", { channel: seed.SHARED })
  expect(messages).toMatchObject([
    { user: seed.ADA, team: "T1" },
    { user: seed.FAY, team: seed.FAY_TEAM },
  ])
})
