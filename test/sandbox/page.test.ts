import type { App } from "@slack/bolt"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import { build } from "vite"
import { ADA, AUDIT, BOT, GRACE, LENA, NO_BOT, OPS, OSCAR, ROBIN } from "../../src/sandbox/seed.ts"
import { type SandboxSlack, startSlack } from "../../src/sandbox/slack.ts"
import { socketApp } from "./bolt.ts"
import { actions, button, call, mrkdwn, text } from "./call.ts"

const LAUNCH = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
]

// A browser shares the cores with everything else that is tested.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 })
const PATIENCE = 20_000

let browser: Browser | undefined
let pageDir: string
let slack: SandboxSlack
let app: App
/** What the browser asked of anybody but the local Slack, and what scripts complained of. */
let foreign: string[]
let complaints: string[]
const pages: Page[] = []

beforeAll(async () => {
  pageDir = await mkdtemp(join(tmpdir(), "page-"))
  const configFile = fileURLToPath(new URL("../../src/sandbox/page/vite.config.ts", import.meta.url))
  await build({ configFile, logLevel: "error", build: { outDir: pageDir, emptyOutDir: true } })
  browser = await chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium", args: LAUNCH })
})
afterAll(async () => {
  await browser?.close()
  await rm(pageDir, { recursive: true, force: true })
})

beforeEach(async () => {
  slack = await startSlack({ pageDir, ackTimeout: 700 })
  foreign = []
  complaints = []
})
afterEach(async () => {
  await Promise.all(pages.splice(0).map((page) => page.context().close()))
  await app?.stop()
  await slack.close()
})

/** A window of this person, with a conversation open. */
async function look(as: string, channel: string = OPS, options: BrowserContextOptions = {}): Promise<Page> {
  if (!browser) throw new Error("no browser")
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE)
  page.on("request", (request) => request.url().startsWith(slack.url) || foreign.push(request.url()))
  page.on("pageerror", (error) => complaints.push(error.message))
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()))
  pages.push(page)
  await page.goto(`${slack.url}#as=${as}&in=${channel}`)
  await page.locator(`input[value="${as}"]`).waitFor({ state: "attached" })
  return page
}

const nameOf = (id: string): RegExp => new RegExp(`^${slack.workspace.person(id).real_name}`)
const be = (page: Page, id: string): Promise<void> =>
  page.getByRole("radio", { name: nameOf(id) }).check({ force: true })
const messages = (page: Page) => page.getByRole("log", { name: "Messages" })
const thread = (page: Page) => page.getByRole("log", { name: "Thread" })

async function post(content: Record<string, unknown>): Promise<string> {
  const { ok, error, ts } = await call(slack, "chat.postMessage", { channel: OPS, text: "said", ...content })
  expect({ ok, error }).toEqual({ ok: true, error: undefined })
  return String(ts)
}

const card = (...elements: unknown[]) => [
  { type: "header", text: text("Restart web?") },
  { type: "section", fields: [mrkdwn("*Asked by*\n<@U0REQ>", true), mrkdwn("*Tool*\n`restart`", true)] },
  ...(elements.length === 0 ? [] : [actions(...elements)]),
]
const approve = button("approve", {
  text: text("Approve"),
  value: "ask-1",
  style: "primary",
  accessibility_label: "Approve restart of web",
})

/** A bot that settles a card when somebody approves it. */
const settling = (bot: App): void => {
  bot.action("approve", async ({ ack, body, client, respond }) => {
    await ack()
    if (body.user.id === OSCAR)
      return void (await respond({ text: "You may not decide this.", replace_original: false }))
    const ts = "message" in body ? body.message?.ts : undefined
    const blocks = [...card(), { type: "context", elements: [mrkdwn(`Approved by <@${body.user.id}>`, true)] }]
    await client.chat.update({ channel: OPS, ts: ts ?? "", text: "Approved", blocks })
  })
}

describe("a card", () => {
  test("is drawn, pressed by one person and seen settled by another without a reload", async () => {
    app = await socketApp(slack, settling)
    const [robin, ada] = [await look(ROBIN), await look(ADA)]
    await post({ blocks: card(approve) })
    await messages(robin).getByRole("heading", { name: "Restart web?" }).waitFor()
    expect(await messages(robin).getByText("@Robin").getAttribute("class")).toContain("mention-me")
    expect(await messages(ada).getByText("@Robin").getAttribute("class")).not.toContain("mention-me")
    await ada.getByRole("button", { name: "Approve restart of web" }).click()
    await messages(robin).getByText("Approved by @Ada").waitFor()
    expect(await messages(robin).getByRole("button", { name: "Approve restart of web" }).count()).toBe(0)
    expect(complaints).toEqual([])
  })

  test("answers a person who may not decide privately", async () => {
    app = await socketApp(slack, settling)
    const [page, other] = [await look(OSCAR), await look(GRACE)]
    await post({ blocks: card(approve) })
    await page.getByRole("button", { name: "Approve restart of web" }).click()
    const reply = page.getByRole("article").filter({ hasText: "You may not decide this." })
    await reply.getByText("Only visible to you").waitFor()
    expect(await other.getByText("You may not decide this.").count()).toBe(0)
    await be(page, GRACE)
    await reply.waitFor({ state: "detached" })
    await be(page, OSCAR)
    await reply.getByRole("button", { name: "Dismiss" }).click()
    expect(await reply.count()).toBe(0)
    expect(await page.getByRole("button", { name: "Approve restart of web" }).count()).toBe(1)
  })

  test("works from the keyboard, and the focus stays with it when its buttons go", async () => {
    app = await socketApp(slack, settling)
    const page = await look(ADA)
    await post({ blocks: card(approve) })
    await page.getByRole("button", { name: "Approve restart of web" }).focus()
    await page.keyboard.press("Enter")
    await messages(page).getByText("Approved by @Ada").waitFor()
    expect(await page.evaluate("document.activeElement.textContent")).toContain("Approved by")
  })

  test("asks first where a button says so, and takes Escape for a no", async () => {
    app = await socketApp(slack, settling)
    const page = await look(ADA)
    const confirm = { title: text("Sure?"), text: text("It restarts."), confirm: text("Do it"), deny: text("No") }
    await post({ blocks: card({ ...approve, confirm }) })
    const press = page.getByRole("button", { name: "Approve restart of web" })
    await press.click()
    await page.getByRole("dialog", { name: "Sure?" }).waitFor()
    await page.keyboard.press("Escape")
    expect(await page.getByRole("dialog").count()).toBe(0)
    expect(slack.workspace.deliveries).toEqual([])
    await press.click()
    await page.getByRole("button", { name: "Do it" }).click()
    await messages(page).getByText("Approved by @Ada").waitFor()
  })

  test("shows a time in the viewer's zone, and its fallback for what is no time", async () => {
    await post({
      blocks: [
        {
          type: "section",
          text: mrkdwn("<!date^1900000000^{date_num} {time}|17:46 UTC> <!date^1^{nonsense}|some day>", true),
        },
      ],
    })
    const tokyo = await look(ROBIN, OPS, { timezoneId: "Asia/Tokyo", locale: "en-US" })
    await messages(tokyo).getByText("2030-03-18 2:46 AM some day").waitFor()
    const london = await look(ROBIN, OPS, { timezoneId: "Europe/London", locale: "en-GB" })
    await messages(london).getByText("2030-03-17 17:46 some day").waitFor()
  })
})

describe("hostile text", () => {
  const html = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script><b>no</b>`
  const escaped = html.replaceAll("<", "&lt;").replaceAll(">", "&gt;")

  test("stays text in every place that holds text, and nothing is fetched for it", async () => {
    const picture = "https://evil.example/p.png"
    await post({ text: escaped })
    await post({
      blocks: [
        { type: "header", text: text(html.slice(0, 140)) },
        { type: "section", text: mrkdwn(escaped, true), fields: [text(html), mrkdwn(`![x](${picture})`)] },
        { type: "markdown", text: `${html}\n\n![x](${picture}) [click](javascript:window.hacked=1)` },
        { type: "image", image_url: picture, alt_text: html },
        { type: "context", elements: [{ type: "image", image_url: picture, alt_text: html }, text(html)] },
        {
          type: "rich_text",
          elements: [
            { type: "rich_text_section", elements: [{ type: "text", text: html }] },
            { type: "rich_text_preformatted", elements: [{ type: "text", text: html }] },
            { type: "rich_text_quote", elements: [{ type: "text", text: "*not bold* <!channel> @here" }] },
          ],
        },
        actions(button("b", { text: text("<b>press</b>"), accessibility_label: html.slice(0, 75) })),
      ],
    })
    slack.workspace.say(OSCAR, OPS, html)
    const page = await look(ROBIN)
    await messages(page).getByText(html).nth(6).waitFor()
    expect(await page.locator("img, script:not([src]), iframe, object, b").count()).toBe(0)
    expect(await page.evaluate("window.hacked")).toBe(undefined)
    expect(await page.locator("blockquote").innerText()).toBe("*not bold* <!channel> @here")
    expect(await page.locator("blockquote *").count()).toBe(0)
    expect(foreign).toEqual([])
    expect(complaints).toEqual([])
  })

  test("can't hide where a link leads", async () => {
    await post({
      blocks: [
        { type: "section", text: mrkdwn("<https://evil.example/a|https://bank.example>", true) },
        {
          type: "rich_text",
          elements: [
            {
              type: "rich_text_section",
              elements: [{ type: "link", url: "https://\u0430pple.example/", text: "https://apple.example/" }],
            },
          ],
        },
      ],
    })
    const page = await look(ROBIN)
    const links = messages(page).getByRole("link")
    expect(await links.allInnerTexts()).toEqual([
      "https://bank.example (https://evil.example/a)",
      "https://apple.example/ (https://xn--pple-43d.example/)",
    ])
    for (const link of await links.all()) expect(await link.getAttribute("rel")).toContain("noreferrer")
  })

  test("would not get in even by a mistake of the page's own", async () => {
    const page = await look(ROBIN)
    await expect(page.evaluate(`document.body.innerHTML = "<b>x</b>"`)).rejects.toThrow("TrustedHTML")
    expect(await page.evaluate(`fetch("https://evil.example/").then(() => "fetched", () => "refused")`)).toBe("refused")
  })
})

describe("who I am", () => {
  test("decides what I see, and whose name is on what I write", async () => {
    await call(slack, "chat.postMessage", { channel: AUDIT, text: "fact one" })
    const page = await look(OSCAR)
    const audit = page.getByRole("button", { name: /^audit/ })
    expect(await audit.count()).toBe(0)
    await be(page, ADA)
    await audit.click()
    await messages(page).getByText("fact one").waitFor()
    await page.getByRole("textbox", { name: "Message #audit" }).fill("*seen* <!channel>")
    await page.keyboard.press("Enter")
    const written = page.getByRole("article", { name: /^Ada/ })
    await written.getByText("seen <!channel>").waitFor()
    expect(slack.workspace.messages(AUDIT).at(-1)).toMatchObject({ user: ADA, text: "*seen* &lt;!channel&gt;" })
  })

  test("is kept over a reload, with the conversation and thread that were open", async () => {
    const root = await post({ text: "root" })
    await post({ text: "reply", thread_ts: root })
    const page = await look(ROBIN)
    await be(page, GRACE)
    await page.getByRole("button", { name: /1 reply/ }).click()
    await page.reload()
    await thread(page).getByText("reply", { exact: true }).waitFor()
    expect(await page.getByRole("radio", { name: nameOf(GRACE) }).isChecked()).toBe(true)
  })
})

describe("what is written", () => {
  test("may have files, which go with the message of this very draft", async () => {
    app = await socketApp(slack, () => undefined)
    const page = await look(ROBIN)
    const box = page.getByRole("textbox", { name: "Message #ops" })
    const picked = page.getByRole("list", { name: "Files to send" })
    const file = (name: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from("abc") })
    const pick = (...files: ReturnType<typeof file>[]) =>
      page.getByLabel("Files to attach").first().setInputFiles(files)
    await pick(file("one.txt"), file("two.txt"))
    await picked.getByText("3 bytes").nth(1).waitFor()
    await page.getByRole("button", { name: "Leave one.txt out" }).click()
    expect(await picked.getByRole("listitem").count()).toBe(1)
    await pick(...Array.from({ length: 10 }, (_, index) => file(`${index}.txt`)))
    await page.getByText("At most 10 files go with one message here.").waitFor()
    expect(await picked.getByRole("listitem").count()).toBe(1)

    await page.getByRole("button", { name: /^shared/ }).click()
    expect(await picked.isVisible()).toBe(false)
    await page.getByRole("button", { name: /^ops/ }).click()
    await picked.getByText("two.txt").waitFor()

    await box.fill("/agent look")
    await page.keyboard.press("Enter")
    await page.getByText("Files can't go with a command.").waitFor()
    expect(slack.workspace.deliveries).toEqual([])
    await box.fill("")
    await page.keyboard.press("Enter")
    const attached = messages(page).getByRole("list", { name: "Attached files" })
    await attached.getByText("two.txt").waitFor()
    expect(await picked.isVisible()).toBe(false)
    const { files = [] } = slack.workspace.messages(OPS).at(-1) ?? {}
    expect(files).toMatchObject([{ name: "two.txt", mimetype: "text/plain", size: 3 }])
    expect(slack.workspace.files.get(files[0]?.id ?? "")?.bytes.toString()).toBe("abc")
    await expect
      .poll(() => slack.workspace.deliveries.at(-1)?.envelope.payload["event"])
      .toMatchObject({ type: "message", subtype: "file_share", files })
    expect(complaints).toEqual([])
  })
})

const direct = (to: string, words: string, ...elements: unknown[]) =>
  call(slack, "chat.postMessage", {
    channel: to,
    text: words,
    blocks: [{ type: "section", text: text(words) }, actions(...elements)],
  })
const appRow = (page: Page) => page.getByRole("list", { name: "Apps" }).getByRole("button")

describe("direct messages", () => {
  test("are marked until they are read, by whichever window; their buttons work, and commands too", async () => {
    app = await socketApp(slack, (bot) => {
      bot.action("approve", async ({ ack, body, client }) => {
        await ack()
        const { channel, message } = body as { channel?: { id: string }; message?: { ts: string } }
        await client.chat.update({ channel: channel?.id ?? "", ts: message?.ts ?? "", text: "Approved by you" })
      })
      bot.command("/agent", async ({ ack, command }) => ack({ text: `${command.channel_name}: ${command.text}` }))
    })
    const page = await look(ROBIN)
    await direct(ADA, "Restart web?", approve)
    slack.workspace.say(LENA, slack.workspace.openDm(LENA, ADA).id, "a minute?")
    await page.getByRole("radio", { name: /^Ada.*2 new/ }).waitFor()
    await be(page, ADA)
    const people = page.getByRole("list", { name: "Direct messages" }).getByRole("button")
    expect(await people.allInnerTexts()).toEqual([expect.stringContaining("Lena")])
    await page.reload()
    await appRow(page).getByText("1 new").waitFor()
    await appRow(page).click()
    await messages(page).getByText("Restart web?").waitFor()
    await page.getByRole("radio", { name: /^Ada.*1 new/ }).waitFor()
    expect(await appRow(page).innerText()).not.toContain("new")
    await page.getByRole("button", { name: "Approve restart of web" }).click()
    await messages(page).getByText("Approved by you").waitFor()
    await page.getByRole("textbox", { name: "Message Countersign" }).fill("/agent list <all>")
    await page.keyboard.press("Enter")
    await messages(page).getByText("directmessage: list <all>").waitFor()
    await be(page, ROBIN)
    await messages(page).getByText("You and Countersign").waitFor()
    expect(complaints).toEqual([])
  })

  test("offer what the app suggests, which goes as it is, and show that it works until it writes", async () => {
    app = await socketApp(slack, () => undefined)
    const { id } = slack.workspace.openDm(BOT, ROBIN)
    const suggest = (...prompts: object[]) =>
      call(slack, "assistant.threads.setSuggestedPrompts", { channel_id: id, prompts })
    await suggest({ title: "Web?", message: "How is <web>?" })
    const page = await look(ROBIN, "messages")
    const offers = page.getByRole("list", { name: "Suggested prompts" }).getByRole("button")
    await page.getByRole("textbox", { name: "Message Countersign" }).fill("something else")
    await offers.first().waitFor({ state: "hidden" })
    await page.getByRole("textbox", { name: "Message Countersign" }).fill("")
    await offers.getByText("Web?").click()
    await messages(page).getByText("How is <web>?").waitFor()
    const ts = slack.workspace.messages(id).at(-1)?.ts ?? ""
    await call(slack, "assistant.threads.setStatus", { channel_id: id, thread_ts: ts, status: "is working on it…" })
    await messages(page).getByText("Countersign is working on it…").waitFor()
    await messages(page).getByRole("article").hover()
    await page.getByRole("button", { name: "Reply in thread" }).click()
    await thread(page).getByText("Countersign is working on it…").waitFor()
    // In a thread nothing is suggested.
    expect(await page.getByRole("list", { name: "Suggested prompts" }).count()).toBe(1)
    await call(slack, "chat.postMessage", { channel: id, thread_ts: ts, text: "It is well." })
    await thread(page).getByText("It is well.").waitFor()
    expect(await page.getByText("is working on it").count()).toBe(0)
    expect(complaints).toEqual([])
  })

  test("are named in the tray, which leads there as the one who got them", async () => {
    const page = await look(ROBIN)
    const { ts, channel } = await direct(LENA, "Nobody answered", approve)
    await direct(LENA, "It is late", approve)
    await call(slack, "chat.delete", { channel, ts })
    await page.getByRole("button", { name: "Notifications, 1 new" }).click()
    const notices = page.getByRole("list", { name: "Notifications" }).getByRole("button")
    await notices.getByText("deleted since").waitFor()
    expect(
      (await notices.allInnerTexts()).map((words) => words.split("\n").filter((line) => line.length > 1)[0]),
    ).toEqual(["Lena has a direct message from Countersign", "Lena has a direct message from Countersign"])
    await notices.first().click()
    await messages(page).getByText("It is late").waitFor()
    expect(await page.getByRole("radio", { name: nameOf(LENA) }).isChecked()).toBe(true)
  })
})

describe("writing", () => {
  test("a command is offered, sent, and answered only to who typed it", async () => {
    app = await socketApp(slack, (bot) =>
      bot.command("/agent", async ({ ack, command }) => ack({ text: `You want: ${command.text}` })),
    )
    const [page, other] = [await look(ROBIN), await look(ADA)]
    const box = page.getByRole("textbox", { name: "Message #ops" })
    await box.fill("/")
    await page
      .getByRole("list", { name: "Commands to try" })
      .getByRole("button", { name: /agent list/ })
      .click()
    await page.keyboard.press("Enter")
    const reply = page.getByRole("article").filter({ hasText: "You want: list" })
    await reply.getByText("Only visible to you").waitFor()
    expect(await box.inputValue()).toBe("")
    expect(await other.getByText("You want: list").count()).toBe(0)
  })

  test("offers the commands that begin like the draft, to who types it and nobody else", async () => {
    const page = await look(ROBIN)
    const box = page.getByRole("textbox", { name: /^Message/ })
    const offers = page.getByRole("list", { name: "Commands to try" })
    const offered = (): Promise<number> => offers.getByRole("button").count()
    await box.fill("/")
    const all = await offered()
    await box.fill("/agent res")
    expect(await offers.getByRole("button", { name: /^\/agent restart/ }).count()).toBe(await offered())
    expect(await offered()).toBeGreaterThan(0)
    expect(await offered()).toBeLessThan(all)
    await box.fill("/agent bad 3")
    expect(await offered()).toBe(0)

    await box.fill("/agent ")
    expect(await offered()).toBe(all)
    await page.getByRole("button", { name: "Misbehave" }).focus()
    expect(await offered()).toBe(0)
    for (const leave of [() => be(page, ADA), () => page.getByRole("button", { name: /^no-bot/ }).click()]) {
      await box.fill("/agent ")
      expect(await offered()).toBe(all)
      await leave()
      await expect.poll(() => box.inputValue()).toBe("")
      expect(await offered()).toBe(0)
    }
    await page.getByRole("button", { name: /^ops/ }).click()
    await be(page, ROBIN)
    await expect.poll(() => box.inputValue()).toBe("/agent ")
    expect(await offered()).toBe(0)
  })

  test("a command that nobody answers fails as in Slack, and is still in the box", async () => {
    app = await socketApp(slack, (bot) => bot.command("/agent", async () => undefined))
    const page = await look(ROBIN)
    const box = page.getByRole("textbox", { name: "Message #ops" })
    await box.fill("/agent restart")
    await page.keyboard.press("Enter")
    await page.getByText("/agent failed with the error “operation_timeout”").waitFor()
    expect(await box.inputValue()).toBe("/agent restart")
    await box.fill("/nonsense")
    await page.keyboard.press("Enter")
    await page.getByText("/nonsense is not a valid command.").waitFor()
  })

  test("a press that nobody answers says so at the card", async () => {
    app = await socketApp(slack, (bot) => bot.action("approve", async () => undefined))
    const page = await look(ADA)
    await post({ blocks: card(approve) })
    await page.getByRole("button", { name: "Approve restart of web" }).click()
    await page.getByRole("alert").getByText("operation_timeout").waitFor()
  })

  test("a draft outlives what happens around it, and stays with its conversation", async () => {
    const page = await look(ROBIN)
    const box = page.getByRole("textbox", { name: /^Message/ })
    await box.fill("half a sen")
    await post({ text: "news" })
    await messages(page).getByText("news").waitFor()
    expect(await box.inputValue()).toBe("half a sen")
    await page.getByRole("button", { name: /^no-bot/ }).click()
    expect(await box.inputValue()).toBe("")
    await page.getByRole("button", { name: /^ops/ }).click()
    expect(await box.inputValue()).toBe("half a sen")
  })

  test("a thread takes replies, not commands, and a link to a message opens it", async () => {
    const root = await post({ text: "the root" })
    const { permalink } = await call(slack, "chat.getPermalink", { channel: OPS, message_ts: root })
    await call(slack, "chat.postMessage", { channel: NO_BOT, text: "x" })
    slack.workspace.join(NO_BOT, "U0BOT")
    await call(slack, "chat.postMessage", { channel: NO_BOT, text: `<${String(permalink)}|Open the thread>` })
    const page = await look(ROBIN, NO_BOT)
    await page.getByRole("link", { name: "Open the thread" }).click()
    await thread(page).getByText("the root").waitFor()
    const box = page.getByRole("textbox", { name: "Reply…" })
    await box.fill("/agent list")
    await page.keyboard.press("Enter")
    await page.getByText("/agent is not supported in threads. Sorry!").waitFor()
    await box.fill("a reply")
    await page.keyboard.press("Enter")
    await thread(page).getByText("a reply").waitFor()
    await messages(page)
      .getByRole("button", { name: /1 reply/ })
      .waitFor()
    expect(slack.workspace.messages(OPS).at(-1)).toMatchObject({ thread_ts: root, text: "a reply" })
  })
})

describe("a modal", () => {
  const input = (block_id: string, label: string, element: Record<string, unknown>, more = {}) => ({
    type: "input",
    block_id,
    label: text(label),
    element: { action_id: "v", ...element },
    ...more,
  })
  const options = ["low", "high"].map((value) => ({ text: text(value), value }))
  const form = {
    type: "modal" as const,
    callback_id: "form",
    title: text("Decline"),
    submit: text("Send"),
    blocks: [
      input("note", "Why not?", { type: "plain_text_input", multiline: true }, { hint: text("The model reads this.") }),
      input(
        "minutes",
        "Minutes",
        { type: "number_input", is_decimal_allowed: false, min_value: "1" },
        { optional: true },
      ),
      input("level", "Level", { type: "static_select", options }),
      input("after", "Then", { type: "radio_buttons", options }),
      input("tell", "Tell", { type: "checkboxes", options }, { optional: true }),
      input("hosts", "Hosts", { type: "multi_static_select", options }, { optional: true }),
    ],
  }

  test("goes there and back: required fields, the app's own errors, the values, and away", async () => {
    let sent: unknown
    app = await socketApp(slack, (bot) => {
      bot.action("approve", async ({ ack, body, client }) => {
        await ack()
        await client.views.open({ trigger_id: "trigger_id" in body ? body.trigger_id : "", view: form as never })
      })
      bot.view("form", async ({ ack, view }) => {
        if (view.state.values["note"]?.["v"]?.value === "no") {
          return ack({ response_action: "errors", errors: { note: "Please say more." } })
        }
        sent = view.state.values
        return ack()
      })
    })
    const page = await look(ADA)
    await post({ blocks: card(approve) })
    await page.getByRole("button", { name: "Approve restart of web" }).click()
    const modal = page.getByRole("dialog", { name: "Decline" })
    const note = modal.getByRole("textbox", { name: "Why not?" })
    await note.waitFor()
    expect(await page.evaluate("document.activeElement.closest('.input-block').dataset.block")).toBe("note")
    await modal.getByRole("button", { name: "Send" }).click()
    expect(await modal.getByText("Please complete this required field.").count()).toBe(3)
    expect(sent).toBe(undefined)
    await note.fill("no")
    await modal.getByRole("textbox", { name: "Minutes" }).fill("5")
    await modal.getByRole("combobox", { name: "Level" }).selectOption("high")
    await modal.getByRole("radiogroup", { name: "Then" }).getByRole("radio", { name: "low" }).check()
    await modal.getByRole("group", { name: "Tell" }).getByRole("checkbox", { name: "high" }).check()
    await modal.getByRole("button", { name: "Send" }).click()
    await modal.getByText("Please say more.").waitFor()
    expect(await modal.getByRole("textbox", { name: "Minutes" }).inputValue()).toBe("5")
    await note.fill("not now")
    await modal.getByRole("button", { name: "Send" }).click()
    await modal.waitFor({ state: "hidden" })
    expect(sent).toEqual({
      note: { v: { type: "plain_text_input", value: "not now" } },
      minutes: { v: { type: "number_input", value: "5" } },
      level: { v: { type: "static_select", selected_option: expect.objectContaining({ value: "high" }) } },
      after: { v: { type: "radio_buttons", selected_option: expect.objectContaining({ value: "low" }) } },
      tell: { v: { type: "checkboxes", selected_options: [expect.objectContaining({ value: "high" })] } },
      hosts: { v: { type: "multi_static_select", selected_options: [] } },
    })
  })

  test("opens at once and is filled when more is known, without going away; one above it takes nothing from it", async () => {
    const checking = { type: "modal", title: text("Decline"), blocks: [{ type: "section", text: text("Checking…") }] }
    const filled = { ...form, blocks: [...form.blocks.slice(0, 1), actions(button("more", { text: text("Details") }))] }
    let known = (): void => undefined
    app = await socketApp(slack, (bot) => {
      bot.action("approve", async ({ ack, body, client }) => {
        await ack()
        const trigger_id = "trigger_id" in body ? body.trigger_id : ""
        const { view } = await client.views.open({ trigger_id, view: checking as never })
        await new Promise<void>((resolve) => (known = resolve))
        await client.views.update({ view_id: view?.id ?? "", hash: view?.hash ?? "", view: filled as never })
      })
      bot.action("more", async ({ ack, body, client }) => {
        await ack()
        const view = { ...checking, title: text("Details") }
        await client.views.push({ trigger_id: "trigger_id" in body ? body.trigger_id : "", view: view as never })
      })
    })
    const page = await look(ADA)
    await post({ blocks: card(approve) })
    await page.getByRole("button", { name: "Approve restart of web" }).click()
    const modal = page.getByRole("dialog", { name: "Decline" })
    await modal.getByText("Checking…").waitFor()
    await page.evaluate(`
      window.dialog = document.querySelector("dialog")
      window.wentAway = 0
      dialog.addEventListener("close", () => wentAway++)`)
    known()
    const note = modal.getByRole("textbox", { name: "Why not?" })
    await note.waitFor()
    expect(await page.evaluate("[dialog.isConnected, dialog.open, wentAway]")).toEqual([true, true, 0])
    expect(await page.evaluate("document.activeElement.tagName")).toBe("TEXTAREA")
    await note.fill("half a reason")
    await modal.getByRole("button", { name: "Details" }).click()
    const above = page.getByRole("dialog", { name: "Details" })
    await above.getByText("Checking…").waitFor()
    await page.keyboard.press("Escape")
    await note.waitFor()
    expect(await note.inputValue()).toBe("half a reason")
  })

  test("says when the app did not answer, and keeps what was filled in; Escape closes it", async () => {
    app = await socketApp(slack, (bot) => {
      bot.action("approve", async ({ ack, body, client }) => {
        await ack()
        const view = { ...form, blocks: form.blocks.slice(0, 1) }
        await client.views.open({ trigger_id: "trigger_id" in body ? body.trigger_id : "", view: view as never })
      })
      bot.view("form", async () => undefined)
    })
    const page = await look(ADA)
    await post({ blocks: card(approve) })
    await page.getByRole("button", { name: "Approve restart of web" }).click()
    const modal = page.getByRole("dialog", { name: "Decline" })
    await modal.getByRole("textbox", { name: "Why not?" }).fill("kept")
    await modal.getByRole("button", { name: "Send" }).click()
    await modal.getByText("We had some trouble connecting. Try again?").waitFor()
    expect(await modal.getByRole("textbox", { name: "Why not?" }).inputValue()).toBe("kept")
    await page.keyboard.press("Escape")
    await modal.waitFor({ state: "hidden" })
    expect(slack.workspace.views(ADA)).toEqual([])
  })
})

const rulesAre = (...deeds: string[]): Promise<true> =>
  slack.workspace.waitFor(
    () =>
      slack.workspace
        .rules()
        .map((rule) => rule.do)
        .join() === deeds.join() || undefined,
  )

describe("around the messages", () => {
  test("the tray tells who would have been pinged and with which text, and leads there as that person", async () => {
    const root = await post({ text: "root" })
    const page = await look(ROBIN)
    await post({ text: "<@U0APP1> *please* look &amp; decide", thread_ts: root })
    const ada = page.getByRole("radio", { name: nameOf(ADA) })
    await page.getByRole("radio", { name: /^Ada.*1 new/ }).waitFor()
    await page.getByRole("button", { name: "Notifications, 1 new" }).click()
    const notice = page.getByRole("list", { name: "Notifications" }).getByRole("button")
    await notice.getByText("@Ada please look & decide").waitFor()
    expect(await notice.innerText()).toContain("is mentioned in #ops")
    await notice.click()
    await thread(page).getByText("@Ada").waitFor()
    expect(await ada.isChecked()).toBe(true)
    await page.getByRole("button", { name: "Notifications", exact: true }).waitFor()
  })

  test("what is deleted goes from the thread, and the last of it takes the thread along", async () => {
    const root = await post({ text: "root" })
    const first = await post({ text: "a reminder", thread_ts: root })
    const page = await look(ROBIN)
    await page.getByRole("button", { name: /1 reply/ }).click()
    await thread(page).getByText("a reminder").waitFor()
    await call(slack, "chat.delete", { channel: OPS, ts: first })
    await thread(page).getByText("a reminder").waitFor({ state: "detached" })
    await call(slack, "chat.delete", { channel: OPS, ts: root })
    await thread(page).waitFor({ state: "hidden" })
    await messages(page).getByText("Start a run in #ops").waitFor()
  })

  test("App Home is opened, drawn, and its buttons work", async () => {
    app = await socketApp(slack, (bot) => {
      bot.event("app_home_opened", async ({ event, client }) => {
        const blocks = [{ type: "header", text: text(`Hello ${event.user}`) }, actions(button("again"))]
        await client.views.publish({ user_id: event.user, view: { type: "home", blocks } as never })
      })
      bot.action("again", async ({ ack, body, client }) => {
        await ack()
        const blocks = [{ type: "header", text: text("Pressed") }]
        await client.views.publish({ user_id: body.user.id, view: { type: "home", blocks } as never })
      })
    })
    const page = await look(GRACE)
    await page.getByRole("button", { name: /^Countersign/ }).click()
    await page.getByRole("heading", { name: `Hello ${GRACE}` }).waitFor()
    await page.getByRole("button", { name: "Go" }).click()
    await page.getByRole("heading", { name: "Pressed" }).waitFor()
    const blocks = [{ type: "header", text: text("Something new") }]
    await call(slack, "views.publish", { user_id: GRACE, view: { type: "home", blocks } })
    await page.getByRole("heading", { name: "Something new" }).waitFor()
    await app.stop()
    await page.reload()
    await page.getByRole("heading", { name: "Something new" }).waitFor()
    await be(page, OSCAR)
    await page.getByText("The app has not put anything here for you yet.").waitFor()
  })

  test("misbehaviour is switched on and off, and goes off when it is used up", async () => {
    const page = await look(ROBIN)
    await page.getByRole("button", { name: "Misbehave" }).click()
    await page.getByRole("switch", { name: /^Too many requests/ }).check()
    await page.getByRole("switch", { name: /^Lose a reply/ }).check()
    await page.getByRole("button", { name: "Misbehave, on" }).waitFor()
    await rulesAre("429", "lose-reply")
    for (let left = 5; left > 0; left -= 1) {
      expect(await call(slack, "auth.test")).toMatchObject({ ok: false, error: "ratelimited" })
    }
    await page.getByRole("switch", { name: /^Too many requests/, checked: false }).waitFor()
    await page.getByRole("button", { name: "Behave again" }).click()
    await page.getByRole("switch", { name: /^Lose a reply/, checked: false }).waitFor()
    await rulesAre()
  })

  test("every control has a name, with everything open", async () => {
    const root = await post({ blocks: card(approve) })
    await post({ text: "reply", thread_ts: root })
    const page = await look(ADA)
    await page.getByRole("button", { name: /1 reply/ }).click()
    await thread(page).getByText("reply", { exact: true }).waitFor()
    for (const role of ["button", "textbox", "combobox", "radio", "checkbox", "switch", "link", "log"] as const) {
      expect([role, await page.getByRole(role, { name: /^\s*$/ }).count()]).toEqual([role, 0])
    }
    expect(await page.getByRole("button").count()).toBeGreaterThan(10)
  })

  test("fits a narrow window, where the sidebar is a menu and the thread covers the rest", async () => {
    const root = await post({ blocks: [...card(approve), { type: "section", text: text("long".repeat(300)) }] })
    await post({ text: "reply", thread_ts: root })
    const page = await look(ADA, OPS, { viewport: { width: 375, height: 700 }, colorScheme: "dark" })
    await messages(page).getByText("Restart web?").waitFor()
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(375)
    const channel = page.getByRole("button", { name: /^no-bot/ })
    expect(await channel.isVisible()).toBe(false)
    await page.getByRole("button", { name: "Menu", exact: true }).click()
    await channel.click()
    await page.getByRole("heading", { name: "no-bot", exact: true }).waitFor()
    await channel.waitFor({ state: "hidden" })
    await page.goto(`${slack.url}#as=${ADA}&in=${OPS}&thread=${root}`)
    await page.getByRole("textbox", { name: "Reply…" }).waitFor()
    await page.getByRole("button", { name: "Close the panel" }).click()
    await messages(page).getByRole("button", { name: "Approve restart of web" }).waitFor()
  })

  test("a lost connection is said, and the page finds its way back to a Slack that was started anew", async () => {
    const page = await look(ROBIN)
    const port = Number(new URL(slack.url).port)
    await slack.close()
    await page.getByText("No connection, trying again…").waitFor()
    slack = await startSlack({ pageDir, port })
    await post({ text: "after the restart" })
    await messages(page).getByText("after the restart").waitFor()
    await page.getByText("The bot is not connected").waitFor()
  })
})
