import { describe, expect, test } from "vitest"
import { startProxy } from "../fakes/proxy.ts"
import { redisUrl } from "../redis.ts"
import { ADA, OPS, rig, ROBIN, type Rig } from "./app.rig.ts"
import { buttonsOf } from "./show.rig.ts"

test("a command starts a run, a card asks, a click answers", async () => {
  const it = await rig()
  const id = await it.start()
  expect(await it.told(ROBIN, "Its thread")).toContain("restart the web server")
  const [card] = await it.ask(id)
  if (!card) throw new Error("no card")
  expect(buttonsOf(card)).toEqual(["approve", "decline"])
  expect((await it.press(ADA, card, "approve")).acked).toBe(true)
  await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
  const [ask] = await it.asks(id)
  expect(ask?.settled).toMatchObject({ ok: true, by: { team: "T1", user: ADA, name: "ada" }, via: "click" })
  expect((await it.facts(id)).map(({ what }) => what).sort()).toEqual(["asked", "settled", "shown", "shown", "started"])
  expect(it.slack.workspace.messages(OPS)).toHaveLength(2)
})

describe("connections", () => {
  /** Resolves when so many connections were asked for in all, and two stand. */
  const connected = (it: Rig, asked: number, ms = 15_000) =>
    it.slack.workspace.waitFor(
      () => it.slack.workspace.sockets.count === 2 && opened(it).length >= asked,
      ms,
      `two connections after ${asked} tries`,
    )
  const opened = (it: Rig) => it.slack.workspace.calls.filter(({ method }) => method === "apps.connections.open")

  test("are two, and come back without a pause when Slack renews them", async () => {
    const it = await rig({ show: false })
    await connected(it, 2)
    it.slack.workspace.sockets.refresh()
    // The library alone would wait five seconds before it tries.
    await connected(it, 4, 4500)
    // What Slack sends over a connection that is just being closed is lost, and Slack says so.
    await expect.poll(async () => (await it.slack.workspace.command(ROBIN, OPS, "help")).acked).toBe(true)
  })

  test("come back when they are lost, and also when Slack gives none for a while", async () => {
    const it = await rig({ show: false })
    const { workspace } = it.slack
    await connected(it, 2)
    workspace.misbehave({ do: "status", method: "apps.connections.open", times: 4 })
    workspace.sockets.drop()
    await connected(it, 8)
    expect(await workspace.command(ROBIN, OPS, "help")).toMatchObject({ acked: true })
    expect(it.logged.join("")).toContain("no Socket Mode connection; trying again")
  })

  test("that the token will never get are an error at once; that don't come are one after a while", async () => {
    const it = await rig({ show: false })
    const { apiUrl, botToken, appToken } = it.slack
    const slack = (token: string) => ({ botToken, apiUrl, transport: { kind: "socket" as const, appToken: token } })
    await expect(it.another({ show: false, app: { slack: slack("xapp-wrong") } })).rejects.toThrow("invalid_auth")
    it.slack.workspace.misbehave({ do: "hang", method: "apps.connections.open" })
    const late = it.another({ show: false, app: { slack: slack(appToken), startWithin: 300 } })
    await expect(late).rejects.toThrow("gave no connection within 0.3 s")
  })

  test("that fail for good later are tried for ever, and the process lives", async () => {
    const it = await rig({ show: false })
    const { workspace } = it.slack
    await connected(it, 2)
    const closed = workspace.misbehave({ do: "error", error: "invalid_auth", method: "apps.connections.open" })
    workspace.sockets.drop()
    await workspace.waitFor(() => closed.hits >= 3 && workspace.sockets.count === 0, 15_000)
    closed.remove()
    await connected(it, 5)
    expect(await workspace.command(ROBIN, OPS, "help")).toMatchObject({ acked: true })
  })
})

describe("stopping", () => {
  test("lets go of both connections, and of what hangs after its time", async () => {
    const proxy = await startProxy({ port: Number(new URL(redisUrl()).port) })
    const it = await rig({ show: false, redisUrl: proxy.url })
    proxy.hold("requests")
    void it.slack.workspace.command(ROBIN, OPS, "restart web")
    await it.slack.workspace.waitFor(() => it.slack.workspace.deliveries.length === 1)
    const began = performance.now()
    await it.bot.app.stop(1500)
    expect(performance.now() - began).toBeLessThan(4000)
    await it.slack.workspace.waitFor(() => it.slack.workspace.sockets.count === 0)
    proxy.release()
    await proxy.close()
  })

  test("waits for what is under way, which is then known to the person", async () => {
    const proxy = await startProxy({ port: Number(new URL(redisUrl()).port) })
    const it = await rig({ show: false, redisUrl: proxy.url })
    proxy.hold("requests")
    const seen = await it.slack.workspace.command(ROBIN, OPS, "restart web")
    expect(JSON.stringify(seen.response)).toContain("Received.")
    const stopped = it.bot.app.stop(10_000)
    proxy.release()
    await stopped
    expect(it.slack.workspace.ephemerals(ROBIN).map(({ text }) => text)).toContainEqual(
      expect.stringMatching(/^Started\./),
    )
    await it.bot.stop()
    await proxy.close()
  })
})
