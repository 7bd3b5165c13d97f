import { createHmac } from "node:crypto"
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { ADA, OPS, ROBIN } from "../../src/sandbox/seed.ts"
import { type SandboxSlack, startSlack } from "../../src/sandbox/slack.ts"
import { actions, button, call } from "./call.ts"
import { attach } from "./peer.ts"

interface Got {
  headers: IncomingHttpHeaders
  body: string
}

let slack: SandboxSlack
let app: Server
let got: Got[]
let answer: (response: ServerResponse) => void
beforeEach(async () => {
  got = []
  answer = (response) => response.end()
  app = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk: Buffer) => (body += chunk.toString()))
    request.on("end", () => {
      got.push({ headers: request.headers, body })
      answer(response)
    })
  })
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve))
  slack = await startSlack({ requestUrl: `http://127.0.0.1:${(app.address() as AddressInfo).port}/slack/events` })
})
afterEach(async () => {
  await slack.close()
  app.closeAllConnections()
  await new Promise((resolve) => app.close(resolve))
})

describe("interactions over HTTP", () => {
  test("a command is a signed form, a press a form with JSON in it, an event JSON", async () => {
    await slack.workspace.command(ROBIN, OPS, "a&b")
    const { ts } = await call(slack, "chat.postMessage", { channel: OPS, text: "x", blocks: [actions(button("go"))] })
    await slack.workspace.click(ADA, { channel: OPS, ts: String(ts) }, "go")
    await slack.workspace.openHome(ADA)
    const [command, press, event] = got
    expect(Object.fromEntries(new URLSearchParams(command?.body))).toMatchObject({ command: "/agent", text: "a&amp;b" })
    expect(JSON.parse(new URLSearchParams(press?.body).get("payload") ?? "")).toMatchObject({ type: "block_actions" })
    expect(JSON.parse(event?.body ?? "")).toMatchObject({ event: { type: "app_home_opened" } })
    for (const { headers, body } of got) {
      const at = String(headers["x-slack-request-timestamp"])
      const hash = createHmac("sha256", slack.signingSecret).update(`v0:${at}:${body}`).digest("hex")
      expect(headers["x-slack-signature"]).toBe(`v0=${hash}`)
      expect(Math.abs(Date.now() / 1000 - Number(at))).toBeLessThan(10)
    }
  })

  test("a body in the answer is an ack's, as words or as JSON", async () => {
    answer = (response) => response.end("hello")
    expect(await slack.workspace.command(ROBIN, OPS, "x")).toMatchObject({ response: { text: "hello" } })
    answer = (response) => {
      response.setHeader("content-type", "application/json").end(JSON.stringify({ text: "hi" }))
    }
    expect(await slack.workspace.command(ROBIN, OPS, "x")).toMatchObject({ response: { text: "hi" } })
  })

  test("a failure is told by its status, and a closed door as well", async () => {
    answer = (response) => response.writeHead(500).end()
    expect(await slack.workspace.command(ROBIN, OPS, "x")).toMatchObject({ acked: false, error: "http_status_500" })
    answer = (response) => response.destroy()
    expect(await slack.workspace.command(ROBIN, OPS, "x")).toMatchObject({ acked: false, error: "dispatch_failed" })
  })

  test("no answer in time is a timeout", async () => {
    const hasty = await startSlack({ ackTimeout: 50, requestUrl: slack.workspace.requestUrl ?? "" })
    answer = () => undefined
    expect(await hasty.workspace.command(ROBIN, OPS, "x")).toMatchObject({ acked: false, error: "operation_timeout" })
    await hasty.close()
  })

  test("a retry carries its number and reason", async () => {
    await slack.workspace.openHome(ADA)
    const [delivery] = slack.workspace.deliveries
    if (!delivery) throw new Error("nothing was delivered")
    await slack.workspace.deliver({ ...delivery.envelope, retry_attempt: 2, retry_reason: "http_timeout" })
    expect(got[1]?.headers).toMatchObject({ "x-slack-retry-num": "2", "x-slack-retry-reason": "http_timeout" })
    expect(got[1]?.body).toBe(got[0]?.body)
  })
})

test("an envelope that nobody acked can be sent again, and its second ack counts", async () => {
  const hasty = await startSlack({ ackTimeout: 200 })
  const peer = await attach(hasty)
  peer.ack = () => undefined
  await hasty.workspace.command(ROBIN, OPS, "x")
  peer.ack = () => ({})
  const [first] = hasty.workspace.deliveries
  if (!first) throw new Error("nothing was delivered")
  expect(await hasty.workspace.deliver(first.envelope)).toMatchObject({ acked: true })
  await hasty.close()
})
