import { randomBytes } from "node:crypto"
import { expect, test, vi, type TestContext } from "vitest"
import type { Run } from "../../src/core/run.ts"
import { startFar, type Far } from "../fakes/far.ts"
import { freePort } from "../fakes/port.ts"
import type { WireTurn } from "../fakes/provider.ts"
import { APP1, must, REQ, Team, until } from "../promises/team.ts"
import { Visitor, wordsOf, type Seen } from "./browser.ts"

vi.setConfig({ testTimeout: 120_000 })

const call = (id: string, name: string, args = {}) => ({ calls: [{ id, name, args }] })

/** A team with the server `far`, which people sign in to; `url`: where our pages for that are. */
async function teamWith(
  finished: TestContext["onTestFinished"],
  { scripts, allowed, key }: { scripts: Record<string, WireTurn[]>; allowed: string[]; key: string },
): Promise<{ team: Team; far: Far; url: string }> {
  const far = await startFar()
  finished(() => far.close())
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const team = await Team.during(finished, {
    scripts,
    config: {
      mcpServers: { far: { url: far.url, oauth: true } },
      signIn: { url, port },
      approvals: allowed.map((tool) => ({ tool, do: "allow" })),
    },
    env: { COUNTERSIGN_KEY: key },
  })
  return { team, far, url }
}

/** The address that the card's window shows to whoever presses. */
async function addressFor(team: Team, run: Run, user: string): Promise<string> {
  const { workspace } = team.slack
  const before = workspace.views(user).at(-1)?.id
  await team.click(user, await team.cardOf(run, "sign-in"), "sign-in")
  const told = (): string => {
    const view = workspace.views(user).at(-1)
    return JSON.stringify(view?.id === before ? [] : (view?.blocks ?? []))
  }
  await until(() => !told().includes("Checking") && told() !== "[]", told)
  return /"url":"(http[^"]*\/sign-in\/[^"]*)"/.exec(told())?.[1] ?? told()
}

/** Signs in, from the address to the last page. */
async function signIn(visitor: Visitor, address: string): Promise<Seen> {
  const back = await visitor.press(await visitor.get(address))
  expect(wordsOf(back)).toMatch(/Finish: far for @ ?robin/i)
  return visitor.press(back)
}

test("whoever asked for a run signs in to a server on our pages, and its tools are theirs alone, also after a kill", async ({
  onTestFinished,
}) => {
  const { team, far } = await teamWith(onTestFinished, {
    scripts: {
      "note milk": [call("c1", "far_sign_in"), call("c2", "far_note", { text: "milk" }), { text: "Noted." }],
      "who am I": [call("c1", "far_whoami"), { text: "Well." }],
      "and I": [call("c1", "far_whoami"), call("c2", "far_sign_in"), { text: "Never mind." }],
    },
    allowed: ["far_whoami", "far_note"],
    key: randomBytes(32).toString("base64"),
  })
  const bot = await team.process()
  far.account = "robin@far"
  const run = await team.begin("note milk")
  const card = await team.cardOf(run, "approve")
  expect(await addressFor(team, run, APP1)).toMatch(/Only the person who asked/)
  const done = await signIn(new Visitor(), await addressFor(team, run, REQ))
  expect(wordsOf(done)).toContain("I have done it")
  await team.click(REQ, card, "approve")
  await team.endOf("note milk")
  const [signedIn, noted] = await team.results(run)
  expect(signedIn).toEqual({
    isError: false,
    output: "Signed in to far. Its tools are there now: far_note, far_whoami.",
  })
  // What the server says of the token does not get to the model.
  expect(noted).toEqual({ isError: false, output: "noted by robin@far, who sent [our secret]" })
  expect((await team.facts(run)).map(({ what, outcome }) => `${what} ${outcome ?? ""}`)).toContain("signed in far")

  await bot.kill()
  await team.bot()
  await team.begin("who am I")
  expect(await team.results(await team.endOf("who am I"))).toEqual([{ isError: false, output: "you are robin@far" }])

  const other = await team.begin("and I", APP1)
  await team.cardOf(other, "approve")
  expect(await team.results(other)).toEqual([{ isError: true, output: "Unknown tool: far_whoami" }])
  await team.click(APP1, await team.cardOf(other, "decline"), "decline")
  await team.endOf("and I", APP1)
  expect(far.calls.map(({ account, tool }) => `${account} ${tool}`)).toEqual(["robin@far note", "robin@far whoami"])
  expect(must(far.grants[0]).account).toBe("robin@far")
})

test("a call that its server refuses for want of a sign-in parks, goes on after a restart, and is executed once", async ({
  onTestFinished,
}) => {
  const { team, far, url } = await teamWith(onTestFinished, {
    scripts: {
      "sign me in": [call("c1", "far_sign_in"), { text: "Done." }],
      "sign me in, really": [call("c1", "far_sign_in"), { text: "Done." }, call("c2", "far_whoami"), { text: "No." }],
      "note milk": [call("c1", "far_note", { text: "milk" }), { text: "Noted." }],
    },
    allowed: ["far_*"],
    key: randomBytes(32).toString("hex"),
  })
  const bot = await team.bot()
  await team.command("tools")
  await team.hears(REQ, "There are 8 tools")
  expect(JSON.stringify(team.slack.workspace.ephemerals(REQ))).toMatch(/far.*sign in first.*far_sign_in.* runs unasked/)
  const first = await team.begin("sign me in")
  const card = await team.cardOf(first, "approve")
  // Whoever says that they have signed in, and has not, is not taken at their word.
  await team.click(REQ, card, "approve")
  await team.endOf("sign me in")
  expect(await team.results(first)).toEqual([
    { isError: true, output: expect.stringMatching(/^unresolved: Sign in to far/) as string },
  ])
  const link = await addressOf(team, url)
  expect(wordsOf(await new Visitor().get(link))).toContain("This sign-in is over")

  const again = await team.begin("sign me in, really")
  await team.cardOf(again, "approve")
  await signIn(new Visitor(), await addressFor(team, again, REQ))
  await team.click(REQ, await team.cardOf(again, "approve"), "approve")
  const over = await team.endOf("sign me in, really")
  // Another one goes on with the very run: what it got is not theirs.
  team.slack.workspace.say(APP1, over.channel, "and who am I?", must(over.thread))
  await until(
    async () => (await team.results(again)).length === 2,
    () => "what came of the reply",
  )
  expect((await team.results(again))[1]).toEqual({ isError: true, output: "Unknown tool: far_whoami" })
  expect(offered(team.provider.requests.at(-1))).toContain("far_sign_in")
  expect(offered(team.provider.requests.at(-1))).not.toContain("far_whoami")
  for (const grant of far.grants) grant.over = true
  const run = await team.begin("note milk")
  await team.cardOf(run, "approve")
  expect(far.calls).toEqual([])
  await bot.stop()
  await team.bot()
  far.account = "robin@far"
  await signIn(new Visitor(), await addressFor(team, run, REQ))
  await team.click(REQ, await team.cardOf(run, "approve"), "approve")
  await team.endOf("note milk")
  expect(far.calls).toEqual([{ account: "robin@far", tool: "note", args: { text: "milk" } }])

  await team.command("sign-out elsewhere")
  await team.hears(REQ, "Which server? People sign in to far.")
  await team.command("sign-out far")
  await team.hears(REQ, "Signed out of far: what you got by signing in is forgotten here and there.")
  await team.command("sign-out far")
  await team.hears(REQ, "You are not signed in to far.")
  expect(must(far.grants.at(-1)).over).toBe(true)
})

/** The names of tools that a model was offered. */
const offered = (request: { body: Record<string, unknown> } | undefined): string[] =>
  (must(request).body["tools"] as { function: { name: string } }[]).map((tool) => tool.function.name)

/** The address of ours that a run's Request has. */
async function addressOf(team: Team, base: string): Promise<string> {
  const [run] = await team.runs()
  const [text = ""] = await team.store.texts(
    must(run).id,
    (await team.facts(must(run))).flatMap(({ ask }) => (ask === undefined ? [] : [`req:${ask}`])).slice(0, 1),
  )
  return must(new RegExp(`${base}/sign-in/[\\w-]+`).exec(text)?.[0])
}
