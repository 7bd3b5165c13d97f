import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, test, vi } from "vitest"
import { wordsOf } from "../promises/seen.ts"
import { APP1, must, Team } from "../promises/team.ts"

vi.setConfig({ testTimeout: 120_000 })

const calling = (name: string) => [{ calls: [{ id: "c1", name, args: {} }] }, { text: "That is all." }]

test("an endpoint that takes a call and never answers makes a card for people; one that nobody reached makes none", async ({
  onTestFinished,
}) => {
  const taken: string[] = []
  const server = createServer(({ method = "", url = "" }) => void taken.push(`${method} ${url}`)).listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const common = { description: "d", method: "POST", allowPrivate: true, timeout: "1s" }
  const team = await Team.during(onTestFinished, {
    scripts: { "refund it": calling("refund"), "count it": calling("count"), "call nobody": calling("nobody") },
    config: {
      httpTools: [
        { ...common, name: "refund", url: `${url}/refund` },
        { ...common, name: "count", url: `${url}/count`, effects: "repeatable" },
        { ...common, name: "nobody", url: "http://127.0.0.1:9/" },
      ],
      approvals: [{ tool: "*", do: "allow" }],
    },
  })
  await team.bot()

  const run = await team.begin("refund it")
  const card = await team.cardOf(run, "again")
  expect(card.text).toMatch(/^Unknown outcome: refund\. /)
  expect(wordsOf(card)).toContain("did not answer within 1 s")
  expect((await team.runOf("refund it")).calls).toMatchObject([{ state: "running" }])
  await team.click(APP1, card, "done")
  await team.endOf("refund it")
  expect(must((await team.results(run))[0])).toMatchObject({
    isError: false,
    output: expect.stringMatching(/^done: .* says that it was done\. It was not executed again/),
  })

  // What may be repeated is the model's to try again.
  const counted = await team.begin("count it")
  await team.endOf("count it")
  expect(await team.results(counted)).toMatchObject([
    { isError: true, output: expect.stringMatching(/^outcome unknown: /) },
  ])

  const unsent = await team.begin("call nobody")
  await team.endOf("call nobody")
  expect(await team.results(unsent)).toMatchObject([
    { isError: true, output: expect.stringMatching(/Nothing was sent, so it was not executed\.$/) },
  ])
  expect(taken).toEqual(["POST /refund", "POST /count"])
  expect(team.cards("again")).toEqual([])
})
