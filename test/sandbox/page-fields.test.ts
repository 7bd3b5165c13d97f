import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Browser, chromium, type Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { build } from "vite"
import { ADA, OPS } from "../../src/sandbox/seed.ts"
import { type SandboxSlack, startSlack } from "../../src/sandbox/slack.ts"
import { fieldsOf, readFields } from "../../src/slack/blocks/fields.ts"
import { editFields, readEdit } from "../../src/slack/blocks/fields/edit.ts"
import { actions, button, call, text } from "./call.ts"
import { attach, type Peer } from "./peer.ts"

// A browser shares the cores with everything else that is tested.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 })
const LAUNCH = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]

let browser: Browser | undefined
let pageDir: string
let slack: SandboxSlack
let peer: Peer

beforeAll(async () => {
  pageDir = await mkdtemp(join(tmpdir(), "page-"))
  const configFile = fileURLToPath(new URL("../../src/sandbox/page/vite.config.ts", import.meta.url))
  await build({ configFile, logLevel: "error", build: { outDir: pageDir, emptyOutDir: true } })
  browser = await chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium", args: LAUNCH })
  slack = await startSlack({ pageDir })
  peer = await attach(slack)
})
afterAll(async () => {
  await browser?.close()
  await slack?.close()
  await rm(pageDir, { recursive: true, force: true })
})

/** A modal with these blocks, opened for Ada by a press. */
async function open(blocks: unknown): Promise<string> {
  const posted = await call(slack, "chat.postMessage", { channel: OPS, text: "card", blocks: [actions(button("go"))] })
  await slack.workspace.click(ADA, { channel: OPS, ts: String(posted["ts"]) }, "go")
  const view = { type: "modal", callback_id: "form", title: text("Answer the agent"), submit: text("Send"), blocks }
  const opened = await call(slack, "views.open", { trigger_id: peer.last()["trigger_id"], view })
  expect(opened).toMatchObject({ ok: true })
  return (opened["view"] as { id: string }).id
}

/** `state.values` of the form that was sent last. */
const sent = (): unknown => {
  const { type, view } = peer.last() as { type?: string; view?: { state?: { values?: unknown } } }
  expect(type).toBe("view_submission")
  return view?.state?.values
}

async function look(): Promise<Page> {
  const page = await browser?.newPage({ viewport: { width: 1000, height: 1500 } })
  if (!page) throw new Error("no browser")
  page.setDefaultTimeout(20_000)
  await page.goto(`${slack.url}#as=${ADA}&in=${OPS}`)
  return page
}

/** Where to put pictures of the forms, for whoever wants to look at them. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env["PICTURES"]
  if (folder === undefined) return
  await mkdir(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`) })
}

const schema = {
  type: "object",
  required: ["service", "replicas", "sure", "env", "when"],
  properties: {
    service: { type: "string", title: "Which service?", maxLength: 40, description: "As the cluster calls it." },
    why: { type: "string", title: "Why now?", default: "no reason\n" },
    replicas: { type: "integer", title: "How many replicas?", minimum: 0, maximum: 9 },
    share: { type: "number", title: "Share of traffic", exclusiveMinimum: 0, maximum: 1 },
    sure: { type: "boolean", title: "Drain it first?" },
    env: { type: "string", oneOf: [{ const: "prod", title: "Production" }, { const: "stg", title: "Staging" }] },
    size: { enum: ["s", "m", "l", "xl", "xxl", "xxxl"], title: "Size" },
    zones: { type: "array", items: { enum: ["a", "b", "c"] }, minItems: 1, title: "Zones" },
    pair: { type: "array", items: { enum: ["a", "b", "c"] }, maxItems: 2, title: "Two of them" },
    mail: { type: "string", format: "email", title: "Whom to tell" },
    page: { type: "string", format: "uri", title: "Status page" },
    day: { type: "string", format: "date", title: "On which day?" },
    when: { type: "string", format: "date-time", title: "At what time?" },
  },
} // prettier-ignore

describe("a form of a schema", () => {
  test("is drawn, refused at its fields, and filled in by a person", async () => {
    const made = fieldsOf(schema)
    const view = await open(made.ok ? made.blocks : [])
    const page = await look()
    const modal = page.getByRole("dialog", { name: "Answer the agent" })
    await modal.getByRole("textbox", { name: "Which service?" }).waitFor()
    expect(await modal.getByText("does not draw").count()).toBe(0)
    await picture(page, "schema-empty")

    await modal.getByRole("button", { name: "Send" }).click()
    expect(await modal.getByText("Please complete this required field.").count()).toBe(5)
    await picture(page, "schema-missing")

    await modal.getByRole("textbox", { name: "Which service?" }).fill("web")
    await modal.getByRole("textbox", { name: "How many replicas?" }).fill("0")
    await modal.getByRole("textbox", { name: "Share of traffic" }).fill("0.25")
    await modal.getByRole("radiogroup", { name: "Drain it first?" }).getByRole("radio", { name: "No" }).check()
    await modal.getByRole("radiogroup", { name: "env" }).getByRole("radio", { name: "Staging" }).check()
    await modal.getByRole("combobox", { name: "Size" }).selectOption("5")
    await modal.getByRole("group", { name: "Zones" }).getByRole("checkbox", { name: "c" }).check()
    await modal.getByRole("group", { name: "Two of them" }).getByRole("checkbox", { name: "b" }).check()
    await modal.getByRole("textbox", { name: "Whom to tell" }).fill("ada@a.example")
    await modal.getByRole("textbox", { name: "Status page" }).fill("https://a.example/?a=1&b=<2>")
    await modal.getByLabel("On which day?").fill("2026-10-01")
    await modal.getByRole("textbox", { name: "At what time?" }).fill("tomorrow")

    peer.ack = (payload) => {
      if (payload["type"] !== "view_submission") return {}
      const read = readFields(schema, sentIn(payload))
      return read.ok ? {} : { response_action: "errors", errors: read.errors }
    }
    await modal.getByRole("button", { name: "Send" }).click()
    await modal.getByText("This must be a time with a zone, such as 2026-10-01T12:00:00Z.").waitFor()
    // The field that is refused is the last of many, and is led to.
    expect(
      await page.evaluate("document.activeElement.closest('.input-block').querySelector('.label').textContent"),
    ).toBe("At what time?")
    const seen = modal.getByText("This must be a time with a zone")
    await expect
      .poll(async () => (await seen.boundingBox())?.y ?? Infinity)
      .toBeLessThan((await modal.getByRole("button", { name: "Send" }).boundingBox())?.y ?? 0)
    await picture(page, "schema-refused")
    expect(slack.workspace.view(view)).toBeDefined()

    await modal.getByRole("textbox", { name: "At what time?" }).fill("2026-10-01T12:00:00+02:00")
    await modal.getByRole("button", { name: "Send" }).click()
    await modal.waitFor({ state: "hidden" })
    expect(readFields(schema, sent())).toEqual({
      ok: true,
      data: {
        service: "web",
        why: "no reason\n",
        replicas: 0,
        share: 0.25,
        sure: false,
        env: "stg",
        size: "xxxl",
        zones: ["c"],
        pair: ["b"],
        mail: "ada@a.example",
        page: "https://a.example/?a=1&b=<2>",
        day: "2026-10-01",
        when: "2026-10-01T12:00:00+02:00",
      },
    })
    await page.close()
  })

  test("filled in through Slack's own door, without a browser, says the same", async () => {
    const made = fieldsOf(schema, {
      service: "web",
      replicas: 2,
      sure: true,
      env: "prod",
      when: "2026-10-01T12:00:00Z",
    })
    const view = await open(made.ok ? made.blocks : [])
    const idOf = (index: number): string => (made.ok ? (made.blocks[index]?.block_id ?? "") : "")
    peer.ack = () => ({})
    expect(await slack.workspace.submit(ADA, view, { [idOf(2)]: { v: "10" } })).toMatchObject({ error: "incomplete" })
    expect(
      await slack.workspace.submit(ADA, view, { [idOf(2)]: { v: "9" }, [idOf(11)]: { v: "2026-10-02" } }),
    ).toMatchObject({
      acked: true,
    })
    expect(readFields(schema, sent())).toEqual({
      ok: true,
      data: { service: "web", why: "no reason\n", replicas: 9, sure: true, env: "prod", day: "2026-10-02", when: "2026-10-01T12:00:00Z" },
    }) // prettier-ignore
  })
})

const sentIn = (payload: Record<string, unknown>): unknown =>
  (payload as { view?: { state?: { values?: unknown } } }).view?.state?.values

test("args that a person edits in the page change where they were edited, and nowhere else", async () => {
  const args = {
    argv: "git push \r\n  --force\r\n",
    cwd: " /srv ",
    env: "prod",
    dry: false,
    target: { region: "eu-<1>&2", port: 8443 },
    token: "xoxb-1111111111-2222222222-abcdefabcdef",
  }
  const tool = {
    type: "object",
    required: ["argv", "env"],
    properties: {
      argv: { type: "string", description: "What is run." },
      env: { enum: ["prod", "staging"] },
      target: { type: "object", properties: { port: { type: "integer", minimum: 1 } } },
    },
  }
  const made = editFields(tool, args)
  expect(made).toMatchObject({ ok: true, kept: ["token"] })
  peer.ack = () => ({})
  for (const port of [undefined, "80"]) {
    await open(made.ok ? made.blocks : [])
    const page = await look()
    const modal = page.getByRole("dialog", { name: "Answer the agent" })
    await modal.getByRole("textbox", { name: "argv" }).waitFor()
    expect(await page.content()).not.toContain("xoxb")
    if (port !== undefined) await modal.getByRole("textbox", { name: "target.port" }).fill(port)
    await picture(page, `edit-${port ?? "untouched"}`)
    await modal.getByRole("button", { name: "Send" }).click()
    await modal.waitFor({ state: "hidden" })
    const target = port === undefined ? args.target : { ...args.target, port: 80 }
    expect(readEdit(tool, args, [], sent())).toEqual({ ok: true, args: { ...args, target } })
    await page.close()
  }
})
