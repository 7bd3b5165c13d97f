/**
 * Files that people attach, through the whole bot: what the model was sent, and what whoever attached them was told.
 */
import { expect, test } from "vitest"
import { OPS, REQ, Team, until } from "./team.ts"

const PNG = Buffer.from("\x89PNG\r\n\x1a\na picture of the dashboard", "latin1")
const picture = { name: "dashboard.png", mimetype: "image/png", bytes: PNG }
const archive = { name: "logs.zip", mimetype: "application/zip", bytes: Buffer.from("PK\x03\x04\0\0", "latin1") }

const lastSent = (it: Team, n: number): string =>
  JSON.stringify((it.provider.requests[n]?.body["messages"] as unknown[] | undefined)?.at(-1))

test("go to the model with the message that they were attached to; what can't is told to both", async ({
  onTestFinished,
}) => {
  const it = await Team.during(onTestFinished, {
    turns: [{ text: "The web tier is red." }, { text: "It was the disk." }],
    config: { doors: { mention: true, reply: true } },
  })
  await it.bot()
  const said = it.slack.workspace.say(REQ, OPS, "@countersign what is wrong here?", undefined, [picture, archive])
  expect(said?.files).toHaveLength(2)
  await it.provider.came(1)
  expect(lastSent(it, 0)).toContain(PNG.toString("base64"))
  expect(lastSent(it, 0)).toContain("logs.zip")
  await it.hears(REQ, "“logs.zip” was not handed to the agent")
  await it.ended()

  const reply = { name: "disk.log", mimetype: "text/plain", bytes: Buffer.from("no space left on device") }
  it.slack.workspace.say(REQ, OPS, "and this?", said?.ts, [reply, archive])
  await it.provider.came(2)
  expect(lastSent(it, 1)).toContain("no space left on device")
  // One word for both: what is said later may come behind the answer.
  await it.hears(REQ, /^The run goes on with this\.\n“logs\.zip” was not handed to the agent/)
  // The picture goes with every turn.
  expect(it.provider.requests[1]?.raw).toContain(PNG.toString("base64"))
}, 60_000)

test("may be all that a reply has; one that has nothing at all is no message for the model", async ({
  onTestFinished,
}) => {
  const it = await Team.during(onTestFinished, {
    turns: [{ text: "Show me." }, { text: "It was the disk." }],
    config: { doors: { mention: true, reply: true } },
  })
  await it.bot()
  const said = it.slack.workspace.say(REQ, OPS, "@countersign what is wrong here?")
  await it.ended()
  it.slack.workspace.say(REQ, OPS, "@countersign", said?.ts)
  await it.hears(REQ, "What shall I do?")
  it.slack.workspace.say(REQ, OPS, "", said?.ts, [picture])
  await it.provider.came(2)
  expect(lastSent(it, 1)).toContain("Look at what is attached.")
  expect(lastSent(it, 1)).toContain(PNG.toString("base64"))
  // Providers refuse a text without words, and it would be in every later request.
  expect(it.provider.requests[1]?.raw).not.toMatch(/"text":\s*"\s*"/)
}, 60_000)

test("of a channel that is shared with another organisation are asked for by their ids", async ({ onTestFinished }) => {
  const channel = "C0SHARED"
  const it = await Team.during(onTestFinished, {
    turns: [{ text: "The web tier is red." }],
    config: { doors: { mention: true }, channels: [channel] },
  })
  await it.bot()
  it.slack.workspace.say(REQ, channel, "@countersign what is wrong here?", undefined, [picture, archive])
  await it.provider.came(1)
  expect(lastSent(it, 0)).toContain(PNG.toString("base64"))
  expect(lastSent(it, 0)).toContain("logs.zip")
  await it.hears(REQ, "“logs.zip” was not handed to the agent")
}, 60_000)

test("without the right to read them, both are told, and the run goes on", async ({ onTestFinished }) => {
  const it = await Team.during(onTestFinished, {
    turns: [{ text: "I can't see it." }],
    config: { doors: { mention: true } },
  })
  it.slack.workspace.scopes.delete("files:read")
  await it.bot()
  it.slack.workspace.say(REQ, OPS, "@countersign what is this?", undefined, [picture])
  await it.hears(REQ, "the app may lack the scope files:read")
  await until(
    () => it.provider.requests.length === 1,
    () => "the model to be asked",
  )
  expect(lastSent(it, 0)).toContain("that you can't read")
  expect(lastSent(it, 0)).not.toContain(PNG.toString("base64"))
}, 60_000)
