import { randomBytes } from "node:crypto"
import { createServer as createTcpServer, type AddressInfo } from "node:net"
import { expect, test, vi } from "vitest"
import type { Run } from "../../src/core/run.ts"
import { startFar } from "../fakes/far.ts"
import { APP1, must, REQ, Team, until } from "../promises/team.ts"
import { Visitor, wordsOf, type Seen } from "./browser.ts"

vi.setConfig({ testTimeout: 120_000 })

async function freePort(): Promise<number> {
  const server = createTcpServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

const call = (id: string, name: string, args = {}) => ({ calls: [{ id, name, args }] })

/** The address that the card's window shows to whoever presses. */
async function addressFor(team: Team, run: Run, user: string): Promise<string> {
  const { workspace } = team.slack
  await team.click(user, await team.cardOf(run, "sign-in"), "sign-in")
  const told = (): string => JSON.stringify(workspace.views(user).at(-1)?.blocks ?? [])
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
  const far = await startFar()
  onTestFinished(() => far.close())
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const team = await Team.during(onTestFinished, {
    scripts: {
      "note milk": [call("c1", "far_sign_in"), call("c2", "far_note", { text: "milk" }), { text: "Noted." }],
      "who am I": [call("c1", "far_whoami"), { text: "Well." }],
      "and I": [call("c1", "far_whoami"), call("c2", "far_sign_in"), { text: "Never mind." }],
    },
    config: {
      mcpServers: { far: { url: far.url, oauth: true } },
      signIn: { url, port },
      approvals: [
        { tool: "far_whoami", do: "allow" },
        { tool: "far_note", do: "allow" },
      ],
    },
    env: { COUNTERSIGN_KEY: randomBytes(32).toString("base64") },
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
  await team.process()
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
