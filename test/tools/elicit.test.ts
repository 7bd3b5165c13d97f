import { fileURLToPath } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import { createToolkit, type ToolContext } from "../../src/agent/tool.ts"
import { answerDeclined, pendingOf, type Answer, type Request } from "../../src/core/suspension.ts"
import { createLog } from "../../src/log.ts"
import { elicitor } from "../../src/tools/mcp/elicit.ts"
import { Patience } from "../../src/tools/mcp/patience.ts"
import { Servers, type ServersOptions } from "../../src/tools/mcp/servers.ts"
import { scratchFolder } from "../redis.ts"

const folder = await scratchFolder("elicit")
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const DESK = here("../../src/sandbox/demo/desk-server.mjs")
const EVERYTHING = here("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js")

type McpServer = ServersOptions["servers"][number]
const server = (name: string, args: string[]): McpServer => ({
  kind: "stdio",
  name,
  command: process.execPath,
  args,
  env: {},
  cwd: folder,
  disabled: false,
  deny: [],
  // So short that a call which is not held would be over.
  timeout: 1000,
  trustAnnotations: false,
})

const quiet = createLog({ level: "silent", secrets: [], mask: (text) => text })

async function started(servers: McpServer[]) {
  const all = new Servers({ servers, taken: [], secrets: ["our-own-secret"], log: quiet })
  onTestFinished(() => all.stop(2000))
  await all.start()
  const kit = await createToolkit({ sources: [all] })
  /** `hold`: who answers, and how. */
  return (name: string, args: Record<string, unknown>, hold?: ToolContext["hold"]) =>
    kit.execute(name, args, hold === undefined ? {} : { hold })
}

/** Answers each Request in the same way, and keeps what was asked. */
function person(answer: (request: Request, stop?: AbortSignal) => Answer | Promise<Answer>) {
  const asked: Request[] = []
  const hold = async (request: Request, stop?: AbortSignal): Promise<Answer> => {
    asked.push(request)
    return answer(request, stop)
  }
  return { asked, hold }
}

test.each<[string, (request: Request) => Answer, string, boolean]>([
  [
    "accepted",
    ({ id }) => ({ id, ok: true, data: { to: "night", note: "mind the disk", by: "U1" } }),
    "web is handed over to the night shift, who know: mind the disk",
    false,
  ],
  ["declined", ({ id }) => answerDeclined(id), "web was not handed over: decline", true],
  ["expired", ({ id }) => answerDeclined(id, "expired"), "web was not handed over: cancel", true],
  ["cancelled", ({ id }) => answerDeclined(id, "cancelled"), "web was not handed over: cancel", true],
])("a form that is %s goes back as that", async (_, answer, output, isError) => {
  const call = await started([server("desk", [DESK])])
  const { asked, hold } = person(answer)
  expect(await call("desk_hand_over", { service: "web" }, hold)).toMatchObject({ output, isError })
  expect(asked).toEqual([
    {
      id: expect.stringMatching(/^pnd-/),
      kind: "input",
      prompt: "Who takes web over?",
      data: { schema: expect.objectContaining({ required: ["to"] }) },
    },
  ])
})

test("a person may take longer than the call; a url is an authorization, and no content goes back", async () => {
  const call = await started([server("desk", [DESK])])
  const { asked, hold } = person(async ({ id }) => {
    await new Promise((resolve) => setTimeout(resolve, 1500))
    return { id, ok: true, data: { output: "approved" } }
  })
  expect(await call("desk_sign_off", { service: "our-own-secret" }, hold)).toMatchObject({
    output: "accept",
    isError: false,
  })
  expect(asked).toMatchObject([
    { kind: "authorization", prompt: "Sign [our secret] off", url: "https://login.example.com/sign-off" },
  ])
})

test("nobody is asked for a password, and where nobody answers it is cancelled", async () => {
  const call = await started([server("desk", [DESK])])
  const { asked, hold } = person(({ id }) => ({ id, ok: true }))
  expect(await call("desk_nosy", { service: "web" }, hold)).toMatchObject({ output: "decline" })
  expect(asked).toEqual([])
  expect(await call("desk_hand_over", { service: "web" })).toMatchObject({ output: "web was not handed over: cancel" })
})

test("what the server does not wait for is closed", async () => {
  const call = await started([server("desk", [DESK])])
  let stopped = false
  const { hold } = person(
    ({ id }, stop) =>
      new Promise((resolve) => {
        stop?.addEventListener("abort", () => {
          stopped = true
          resolve(answerDeclined(id, "cancelled"))
        })
      }),
  )
  expect(await call("desk_impatient", { service: "web" }, hold)).toMatchObject({ output: "gone" })
  await expect.poll(() => stopped).toBe(true)
})

test("of two calls each question reaches its own", async () => {
  const call = await started([server("desk", [DESK])])
  const robin = person(({ id }) => ({ id, ok: true, data: { to: "night" } }))
  const stranger = person(({ id }) => ({ id, ok: true, data: { to: "day" } }))
  const [one, other] = await Promise.all([
    call("desk_hand_over", { service: "web" }, robin.hold),
    call("desk_plain", { service: "api" }, stranger.hold),
  ])
  expect(one).toMatchObject({ output: "web is handed over to the night shift" })
  expect(other.isError).toBe(false)
  expect(robin.asked).toHaveLength(1)
  expect(stranger.asked).toEqual([])
})

test("a server that wants to be told learns that somebody is still being asked", async () => {
  const beats: unknown[] = []
  let answered: (answer: Answer) => void = () => undefined
  const ctx: ToolContext = {
    hold: ({ id }) => new Promise((resolve) => (answered = (answer) => resolve({ ...answer, id }))),
  }
  const patience = new Patience(50)
  const elicit = elicitor(
    { server: "s", underway: new Map([["m", { tool: "t", ctx, patience }]]), clean: (text) => text, log: quiet },
    10,
  )
  const params = {
    message: "?",
    requestedSchema: { type: "object" as const, properties: {} },
    _meta: { progressToken: "p" },
  }
  const said = elicit(
    { method: "elicitation/create", params },
    { signal: new AbortController().signal, sendNotification: async (beat) => void beats.push(beat) },
  )
  await expect.poll(() => beats.length).toBeGreaterThan(10)
  expect(patience.why).toBeUndefined()
  answered({ id: "", ok: true })
  expect(await said).toEqual({ action: "accept", content: {} })
  expect(beats[0]).toEqual({ method: "notifications/progress", params: { progressToken: "p", progress: 1 } })
  // While it was held no time passed; now it does.
  await expect.poll(() => patience.why).toMatch(/did not answer within 0\.05 s/)
})

test("a public server's form and sign-in are put to a person", { timeout: 60_000 }, async () => {
  const call = await started([server("everything", [EVERYTHING, "stdio"])])
  const answers = { input: { name: "Robin", integer: 7 } }
  const { asked, hold } = person(({ id, kind }) => ({
    id,
    ok: true,
    ...(kind === "input" ? { data: answers.input } : {}),
  }))
  const form = await call("everything_trigger-elicitation-request", {}, hold)
  expect(form.output).toContain("Robin")
  const args = { url: "https://login.example.com/x", message: "Sign in", elicitationId: "e1" }
  expect(await call("everything_trigger-url-elicitation", args, hold)).toMatchObject({ isError: false })
  expect(asked.map(({ kind }) => kind)).toEqual(["input", "authorization"])
  // A server may also refuse until the person was there: then the call waits, and is sent again with their yes.
  const refused = await call("everything_trigger-url-elicitation", { ...args, errorPath: true }, hold)
  expect(pendingOf(refused)).toMatchObject({ kind: "authorization", url: "https://modelcontextprotocol.io" })
})

test.each([
  [
    "a form",
    { requestedSchema: { type: "object", properties: { who: { type: "string", description: "not xyzzy-1234" } } } },
  ],
  ["an address", { mode: "url", url: "https://login.example.com/?token=xyzzy-1234", elicitationId: "e" }],
])("a secret of ours in %s is put to nobody", async (_, how) => {
  const { asked, hold } = person(({ id }) => answerDeclined(id))
  const underway = new Map([["m", { tool: "t", ctx: { hold }, patience: new Patience(1000) }]])
  const clean = (text: string): string => text.replaceAll("xyzzy-1234", "[our secret]")
  const params = { message: "Who?", ...how }
  const elicit = elicitor({ server: "s", underway, clean, log: quiet })
  const request = { method: "elicitation/create", params } as unknown as Parameters<typeof elicit>[0]
  await elicit(request, { signal: new AbortController().signal, sendNotification: async () => undefined })
  // Without it the address leads nowhere, and the form seems to ask for one.
  expect(asked).toEqual([])
})
