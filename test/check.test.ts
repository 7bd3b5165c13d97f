import { mkdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { type AddressInfo, createServer as createTcpServer } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Redis } from "ioredis"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { parse } from "yaml"
import { readFileSync } from "node:fs"
import { check } from "../src/check.ts"
import { checkLive } from "../src/check/live.ts"
import { checkManifest } from "../src/check/manifest.ts"
import { asker } from "../src/check/ask.ts"
import { OPTIONAL, SCOPES } from "../src/check/scopes.ts"
import { readConfig } from "../src/config.ts"
import { ADA, AUDIT, BOT, GRACE, NO_BOT, OPS, OSCAR, ROBIN, SRE } from "../src/sandbox/seed.ts"
import { type SandboxSlack, startSlack } from "../src/sandbox/slack.ts"
import { samples } from "../src/slack/blocks/samples.ts"
import { Store } from "../src/store/store.ts"
import { freshPrefix, redisUrl, scratchFolder, startRedis } from "./redis.ts"

const TOOLS = fileURLToPath(new URL("./fakes/ops.mjs", import.meta.url))

/** A set-up with nothing wrong; `file` are settings that are different in countersign.yaml, `env` the same of the environment. */
async function setUp() {
  const slack = await startSlack()
  onTestFinished(() => slack.close())
  const prefix = freshPrefix()
  const folder = await scratchFolder("check")
  let count = 0
  const read = ({ file = {}, env = {} }: Wrong = {}) => {
    const dir = join(folder, String(count++))
    mkdirSync(dir)
    const path = join(dir, "countersign.yaml")
    const settings = {
      model: { provider: "demo" },
      tools: [TOOLS],
      starters: [ROBIN],
      channels: [OPS],
      approvers: [SRE],
      admins: [GRACE],
      approvals: [{ tool: "get_*", do: "allow" }],
      audit: { channel: AUDIT, args: "masked" },
      redis: { prefix },
      ...file,
    }
    writeFileSync(path, JSON.stringify(settings))
    return readConfig({
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_APP_TOKEN: slack.appToken,
      SLACK_API_URL: slack.apiUrl,
      REDIS_URL: redisUrl(),
      COUNTERSIGN_CONFIG: path,
      ...env,
    })
  }
  const found = async (wrong?: Wrong) => {
    const reading = read(wrong)
    const { faults, outages, warnings } = await check(reading)
    // Without the folder, which differs from test to test.
    const bare = (all: string[]) => all.map((one) => one.replace(/^\/.*?\/(?=countersign\.yaml)/, ""))
    return { faults: bare(faults), warnings: bare(warnings), ...(outages.length > 0 ? { outages } : {}) }
  }
  return { slack, workspace: slack.workspace, prefix, read, found }
}

interface Wrong {
  file?: Record<string, unknown>
  env?: Record<string, string>
}

const NOTHING = { faults: [], warnings: [] }

test("a model provider that is not installed is a fault, at its line, that says what to install where", async () => {
  const { found } = await setUp()
  const { faults } = await found({ file: { model: { provider: "@acme/models", model: "m" } } })
  expect(faults).toEqual([
    expect.stringMatching(
      /countersign\.yaml:1: model\.provider "@acme\/models" is not installed: run "npm i @acme\/models@…" in \/.+, with a version/,
    ),
  ])
})

test("a set-up with nothing wrong has neither fault nor warning, and its tools are loaded", async () => {
  const { read, found } = await setUp()
  expect(await found()).toEqual(NOTHING)
  const { tools } = await check(read())
  expect(tools.map(({ name }) => name)).toContain("restart_service")
})

test("everything that is wrong is told at once, each with its remedy, and no token is in it", async () => {
  const { workspace, slack, found } = await setUp()
  workspace.scopes.delete("im:write")
  workspace.alterPerson(ADA, { deleted: true })
  const wrong = await found({
    file: { channels: [NO_BOT], approvers: [ADA, "U0TYPO"], approvals: [{ tool: "restrat_service", do: "ask" }] },
    env: { SLACK_APP_TOKEN: "xapp-1-of-nobody", REDIS_URL: "redis://127.0.0.1:1" },
  })
  expect(wrong.faults).toEqual([
    expect.stringMatching(/^SLACK_APP_TOKEN is not known to Slack: make one with connections:write/),
    expect.stringMatching(/^The scope im:write is missing: without it .*; add it/),
    `channels: ${NO_BOT} (#no-bot) does not have the bot as a member: type /invite @countersign there. A run can be started nowhere then.`,
    `approvers: ${ADA} (ada) is deactivated: take the id out. Nobody may approve then.`,
    expect.stringMatching(/^approvers: U0TYPO is nobody's id: put the right one/),
    "countersign.yaml:1: approvals[0]: no tool's name is restrat_service; did you mean restart_service? Correct it, or take the rule out.",
  ])
  expect(wrong.outages).toEqual([
    expect.stringMatching(
      /^Redis can't be reached at 127\.0\.0\.1:1 \(.*ECONNREFUSED.*\): start it, or correct REDIS_URL\.$/,
    ),
  ])
  expect(wrong.warnings).toEqual([])
  expect(JSON.stringify(wrong)).not.toContain(slack.botToken)
  expect(JSON.stringify(wrong)).not.toContain("xapp-1-of-nobody")
})

test("what the configuration says of itself comes along", async () => {
  const { found } = await setUp()
  expect((await found({ file: { command: "agent" } })).faults).toEqual([expect.stringContaining("command must be")])
  expect(await found({ file: { starters: [] } })).toEqual({
    faults: [],
    warnings: [expect.stringMatching(/^starters is empty: nobody may start a run\./)],
  })
})

describe("a fault hides no other one", () => {
  /** A Redis, channels, people, a rule and tools that are all wrong. */
  async function allWrong() {
    const { workspace, found, prefix } = await setUp()
    workspace.scopes.delete("im:write")
    const redis = await startRedis({ args: ["--maxmemory-policy", "allkeys-lru"] })
    onTestFinished(() => redis.stop())
    const tools = join(await scratchFolder("check"), "tools.mjs")
    writeFileSync(tools, 'export default [{ name: "a", description: "d" }, { name: "b", effects: "some", run() {} }]')
    const file = {
      tools: [tools],
      channels: [NO_BOT],
      approvers: ["U0TYPO"],
      approvals: [{ tool: "c", do: "ask" }],
      command: "/ops",
      redis: { prefix, confirm: 2 },
    }
    return { found, file, url: redis.url }
  }
  const PEOPLE = /^approvers: U0TYPO is nobody's id: .* Nobody may approve then\.$/
  const CHANNELS = /^channels: C0NOBOT \(#no-bot\) does not have the bot as a member: .* started nowhere then\.$/
  const SCOPE = /^The scope im:write is missing: /
  const ITEMS = [
    /tools\.mjs: item 0: tool a: run is required, a function \(args, ctx\)\.$/,
    /tools\.mjs: item 1: tool b: a description is required, a text for the model\.$/,
    /tools\.mjs: item 1: tool b: effects must be "none", "repeatable" or "once", not "some"\.$/,
  ]
  const RULE = /approvals\[0\]: no tool's name is c; there are a, b: put one of these/
  const EVICTS = /^Redis' maxmemory-policy is allkeys-lru/
  const COMMAND = /^command is \/ops, but the app of manifest\.yml has \/agent/
  const CONFIRM = /^redis\.confirm wants 2 replicas/
  const matching = (...all: RegExp[]) => all.map((one) => expect.stringMatching(one) as string)

  test("a missing app token", async () => {
    const { found, file, url } = await allWrong()
    expect(await found({ file, env: { SLACK_APP_TOKEN: "", REDIS_URL: url } })).toEqual({
      faults: matching(/^SLACK_APP_TOKEN is missing/, SCOPE, CHANNELS, PEOPLE, ...ITEMS, RULE, EVICTS),
      warnings: matching(COMMAND, CONFIRM),
    })
  })

  test("a bot token that is missing or wrong hides what only it can ask", async () => {
    const { found, file, url } = await allWrong()
    const rest = matching(...ITEMS, RULE, EVICTS)
    for (const [token, words] of [
      ["", /^SLACK_BOT_TOKEN is missing/],
      ["xoxb-of-nobody", /^SLACK_BOT_TOKEN is not known to Slack/],
    ] as const) {
      const env = { SLACK_BOT_TOKEN: token, SLACK_APP_TOKEN: "xapp-of-nobody", REDIS_URL: url }
      const wrong = await found({ file, env })
      expect(wrong.faults).toEqual(expect.arrayContaining(matching(words, /^SLACK_APP_TOKEN is not known to Slack/)))
      expect(wrong.faults).toEqual(expect.arrayContaining(rest))
      expect(wrong.faults).toHaveLength(rest.length + 2)
      expect(wrong.warnings).toEqual(matching(COMMAND, CONFIRM))
    }
  })

  test("wrong addresses of Redis or Slack", async () => {
    const { found, file, url } = await allWrong()
    expect(await found({ file, env: { REDIS_URL: "127.0.0.1" } })).toEqual({
      faults: matching(/^REDIS_URL must be an address/, SCOPE, CHANNELS, PEOPLE, ...ITEMS, RULE),
      warnings: matching(COMMAND),
    })
    expect(await found({ file, env: { SLACK_API_URL: "http://slack.example.com/", REDIS_URL: url } })).toEqual({
      faults: matching(/^SLACK_API_URL must be an https address/, ...ITEMS, RULE, EVICTS),
      warnings: matching(COMMAND, CONFIRM),
    })
  })

  test("a file that isn't there", async () => {
    const { workspace, slack, found } = await setUp()
    workspace.scopes.delete("im:write")
    const redis = await startRedis({ args: ["--maxmemory-policy", "allkeys-lru"] })
    onTestFinished(() => redis.stop())
    expect(slack.botToken).not.toBe("")
    expect(await found({ env: { COUNTERSIGN_CONFIG: "/nowhere/countersign.yaml", REDIS_URL: redis.url } })).toEqual({
      faults: matching(/^(\/nowhere\/)?countersign\.yaml does not exist/, SCOPE, EVICTS),
      warnings: [],
    })
  })

  test.each<[string, Record<string, unknown>, RegExp, RegExp[]]>([
    ["starters", { starters: "U1 U2" }, /starters must be a list/, []],
    ["a setting that there isn't", { agrees: 1 }, /has no setting "agrees"/, []],
    ["a duration", { expiresIn: 5 }, /expiresIn must be a duration/, []],
    ["the model", { model: { provider: "openai" } }, /model\.provider must be/, []],
    ["the command", { command: "ops" }, /command must be/, [COMMAND]],
    ["confirm", { redis: { confirm: -1 } }, /redis\.confirm must be/, [CONFIRM]],
    ["the approvers", { approvers: "@ada" }, /approvers must be a list/, [PEOPLE]],
    ["the channels", { channels: "#ops" }, /channels must be a list/, [CHANNELS]],
    ["the tools", { tools: "ops.mjs" }, /tools must be a list/, [...ITEMS, RULE]],
    ["the rules", { approvals: "none" }, /approvals must be a list/, [RULE]],
  ])("one of %s in the file hides what depends on that alone", async (_, change, words, hidden) => {
    const { found, file, url } = await allWrong()
    const wrong = await found({ file: { ...file, ...change }, env: { REDIS_URL: url } })
    const shown = (all: RegExp[]) => matching(...all.filter((one) => !hidden.includes(one)))
    expect(wrong).toEqual({
      faults: [expect.stringMatching(words), ...shown([SCOPE, CHANNELS, PEOPLE, ...ITEMS, RULE, EVICTS])],
      warnings: shown([COMMAND, CONFIRM]),
    })
  })

  test("an entry of a list that is no id leaves the others to be looked at, and its list is not called dead", async () => {
    const { workspace, found } = await setUp()
    workspace.alterPerson(ADA, { deleted: true })
    expect(
      await found({
        file: {
          approvers: [ADA, "@grace"],
          channels: [NO_BOT, "#ops"],
          starters: ["U0TYPO", 5],
          approvals: [
            { tool: "get_*", do: "alow" },
            { tool: "get_status", do: "deny" },
            { tool: "restart_service", do: "ask", approvers: ["U0TYPE"], expiresIn: 1 },
          ],
        },
      }),
    ).toEqual({
      faults: [
        expect.stringContaining("starters[1] must be"),
        expect.stringContaining("channels[1] must be"),
        expect.stringContaining("approvers[1] must be"),
        expect.stringContaining("approvals[0].do must be"),
        expect.stringContaining("approvals[2].expiresIn must be"),
        expect.stringMatching(/^starters: U0TYPO is nobody's id: .* Copy member ID\)\.$/),
        expect.stringMatching(/^approvals\[2\]\.approvers: U0TYPE is nobody's id: .* approve restart_service then\.$/),
        expect.stringContaining("approvals[1]: get_status never gets that far: approvals[0] (get_*) matches it"),
      ],
      warnings: [
        `channels: ${NO_BOT} (#no-bot) does not have the bot as a member: type /invite @countersign there.`,
        `approvers: ${ADA} (ada) is deactivated: take the id out.`,
      ],
    })
  })

  test.each<[string, Record<string, unknown>]>([
    ["approvers", { starters: [ADA], approvers: [ADA, "grace"] }],
    ["starters", { starters: [ADA, "robin"], approvers: [ADA] }],
    ["self-approval", { starters: [ADA], approvers: [ADA], selfApproval: "yes" }],
    ["the rules before", { starters: [ADA], approvers: [ADA], approvals: [5, { tool: "get_*", do: "allow" }] }],
  ])("who could approve is no matter where not all of it could be read: %s", async (_, file) => {
    const { found } = await setUp()
    const { faults, warnings } = await found({ file })
    expect(faults).toHaveLength(1)
    expect(warnings).toEqual([])
  })

  test("a rule that may be about some calls alone hides no other one", async () => {
    const { found } = await setUp()
    const rules = [
      { tool: "*", wehn: { env: "prod" }, do: "allow" },
      { tool: "get_status", do: "deny" },
    ]
    expect(await found({ file: { approvals: rules } })).toEqual({
      faults: [expect.stringContaining('approvals[0] has no setting "wehn"')],
      warnings: [],
    })
    const sound = rules.map(({ wehn, ...rule }) => (wehn ? { ...rule, when: wehn, do: "ask" } : rule))
    expect(await found({ file: { approvals: sound } })).toEqual(NOTHING)
  })

  test("a tool that can't be told makes no rule one without a tool", async () => {
    const { found } = await setUp()
    const { faults } = await found({ file: { tools: [TOOLS, "./gone.mjs"], approvals: [{ tool: "c", do: "ask" }] } })
    expect(faults).toEqual([expect.stringMatching(/gone\.mjs does not exist/)])
  })

  test("a Redis elsewhere isn't called open where it could not be read whether that is meant, and gets no password", async () => {
    const { prefix, found } = await setUp()
    const redis = { prefix, insecure: "yes" }
    const { port, seen } = await listening()
    const url = `redis://:secret-word@0.0.0.0:${port}`
    expect(await found({ file: { redis }, env: { REDIS_URL: url } })).toEqual({
      faults: [expect.stringMatching(/redis\.insecure must be true or false/)],
      warnings: [],
    })
    expect(seen()).toBe(0)
  })
})

describe("tokens", () => {
  test.each([
    ["invalid_auth", /^SLACK_BOT_TOKEN is not known to Slack: put the token that begins with xoxb-/],
    ["token_revoked", /^SLACK_BOT_TOKEN was revoked: /],
    ["account_inactive", /^SLACK_BOT_TOKEN was revoked, or the app was removed from the workspace: /],
    ["token_expired", /^SLACK_BOT_TOKEN has expired \(token rotation is on/],
    ["not_allowed_token_type", /^SLACK_BOT_TOKEN is a token of another kind: /],
    ["org_login_required", /^SLACK_BOT_TOKEN is refused: Slack says "org_login_required": /],
  ])("a bot token that gets %s is told, and nothing is asked with it", async (error, words) => {
    const { workspace, found } = await setUp()
    workspace.misbehave({ method: "auth.test", do: "error", error, times: 9 })
    expect(await found()).toEqual({ faults: [expect.stringMatching(words)], warnings: [] })
    expect(workspace.calls.map(({ method }) => method).sort()).toEqual(["apps.connections.open", "auth.test"])
  })

  test.each([
    ["error", { error: "internal_error" }, /Slack says "internal_error"\): try again in a minute; /],
    ["status", { status: 503 }, /it answered with HTTP 503\): try again in a minute; /],
    ["429", { retryAfter: 7 }, /Slack wants fewer questions now\): try again in 7 s; /],
  ] as const)("what passes is an outage, with how long to wait: %s", async (kind, how, words) => {
    const { workspace, found } = await setUp()
    workspace.misbehave({ method: "auth.test", do: kind, times: 9, ...how })
    const { outages, ...rest } = await found()
    expect(rest).toEqual(NOTHING)
    expect(outages).toEqual([expect.stringMatching(words)])
    expect(outages?.[0]).toMatch(/^Slack at http:.*\/api\/ can't answer just now \(/)
  })

  test.each([
    ["invalid_auth", "faults", /^SLACK_APP_TOKEN is not known to Slack: make one with connections:write/],
    ["not_allowed_token_type", "faults", /^SLACK_APP_TOKEN is a token of another kind: /],
    ["missing_scope", "faults", /^SLACK_APP_TOKEN lacks connections:write: /],
    ["internal_error", "warnings", /^SLACK_APP_TOKEN couldn't be checked: Slack says "internal_error"\.$/],
  ])("an app token that gets %s: %s", async (error, kind, words) => {
    const { workspace, found } = await setUp()
    workspace.misbehave({ method: "apps.connections.open", do: "error", error, times: 9 })
    expect(await found()).toEqual({ ...NOTHING, [kind]: [expect.stringMatching(words)] })
  })

  test("the tokens of two apps don't go together", async () => {
    const { found, slack } = await setUp()
    const { faults } = await found({ env: { SLACK_APP_TOKEN: "xapp-1-A0OTHER1-2-abc" } })
    expect(faults).toContain(
      "SLACK_APP_TOKEN is of the app A0OTHER1, SLACK_BOT_TOKEN of A0APP: put the tokens of one app.",
    )
    expect(slack.workspace.calls.some(({ method }) => method === "bots.info")).toBe(true)
  })

  test("over HTTP no app token is asked for", async () => {
    const { workspace, read } = await setUp()
    const reading = read({ env: { SLACK_APP_TOKEN: "", SLACK_SIGNING_SECRET: "0123456789abcdef", PORT: "4000" } })
    expect(await check(reading)).toMatchObject(NOTHING)
    expect(workspace.calls.map(({ method }) => method)).not.toContain("apps.connections.open")
  })

  test("an address where nobody answers, or something else does, is told once", async () => {
    const { found } = await setUp()
    const nobody = await found({ env: { SLACK_API_URL: "http://127.0.0.1:1/api/" } })
    expect(nobody).toEqual({
      ...NOTHING,
      outages: [expect.stringMatching(/^Slack can't be reached at http:\/\/127\.0\.0\.1:1\/api\/ \(.*\): see that/)],
    })
    const proxy = createServer((_, response) => response.end("<html>\u001b[2J Please log in</html>"))
    await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening))
    onTestFinished(() => new Promise((closed) => proxy.close(() => closed())))
    const { port } = proxy.address() as AddressInfo
    const other = await found({ env: { SLACK_API_URL: `http://127.0.0.1:${port}/` } })
    expect(other.faults).toEqual([expect.stringContaining("(what answers isn't Slack)")])
  })
})

describe("scopes", () => {
  test("are what the manifest asks for", () => {
    const manifest: unknown = parse(readFileSync(new URL("../manifest.yml", import.meta.url), "utf8"))
    expect(manifest).toHaveProperty("oauth_config.scopes.bot", expect.arrayContaining(Object.keys(SCOPES)))
    expect(manifest).toHaveProperty("oauth_config.scopes.bot.length", Object.keys(SCOPES).length)
    expect(manifest).toHaveProperty("oauth_config.scopes.bot_optional", Object.keys(OPTIONAL))
  })

  test.each(["commands", "chat:write", "im:write", "users:read", "usergroups:read"])(
    "without %s it is a fault",
    async (scope) => {
      const { workspace, found } = await setUp()
      workspace.scopes.delete(scope)
      const { faults } = await found()
      expect(faults).toEqual([
        expect.stringMatching(
          new RegExp(`^The scope ${scope} is missing: without it .*; add it .* reinstall the app\\.$`),
        ),
      ])
    },
  )

  test("what can't be looked up for want of a scope is a warning beside it, once", async () => {
    const { workspace, found } = await setUp()
    workspace.scopes.delete("users:read")
    const { warnings } = await found({ file: { starters: [ROBIN, ADA], admins: [GRACE] } })
    expect(warnings).toEqual([`${ROBIN}, ${ADA}, ${GRACE} couldn't be checked: the bot lacks the scope users:read.`])
  })

  test("a scope that only groups or private channels need is none where they aren't named", async () => {
    const { workspace, found } = await setUp()
    workspace.scopes.delete("usergroups:read")
    workspace.scopes.delete("groups:read")
    const { faults, warnings } = await found({ file: { approvers: [ADA, GRACE], audit: undefined } })
    expect(faults).toEqual([])
    expect(warnings).toEqual([
      expect.stringMatching(/^audit is missing/),
      expect.stringMatching(/^The scope usergroups:read is missing/),
      expect.stringMatching(/^The scope groups:read is missing/),
    ])
  })

  test("missing read scopes of channels are a warning, and so is what they hide", async () => {
    const { workspace, found } = await setUp()
    workspace.scopes.delete("channels:read")
    workspace.scopes.delete("groups:read")
    expect(await found()).toEqual({
      faults: [],
      warnings: [
        expect.stringMatching(/^The scope channels:read is missing/),
        expect.stringMatching(/^The scope groups:read is missing/),
        `${OPS} couldn't be checked: the bot lacks the scope channels:read.`,
        `${AUDIT} couldn't be checked: the bot lacks the scope groups:read.`,
      ],
    })
  })

  test("a stand-in that doesn't tell its scopes is warned of", async () => {
    const { slack, found } = await setUp()
    // A Slack that leaves the header out.
    const mute = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const headers = {
          authorization: request.headers.authorization ?? "",
          "content-type": request.headers["content-type"] ?? "",
        }
        void fetch(slack.apiUrl + (request.url ?? "").slice(1), {
          method: "POST",
          headers,
          body: Buffer.concat(chunks),
        })
          .then((answer) => answer.text())
          .then((text) => response.end(text))
      })
    })
    await new Promise<void>((listening) => mute.listen(0, "127.0.0.1", listening))
    onTestFinished(() => new Promise((closed) => mute.close(() => closed())))
    const { port } = mute.address() as AddressInfo
    expect(await found({ env: { SLACK_API_URL: `http://127.0.0.1:${port}/` } })).toEqual({
      faults: [],
      warnings: [expect.stringMatching(/^Slack didn't say which scopes SLACK_BOT_TOKEN has/)],
    })
  })
})

describe("channels", () => {
  const invite = "does not have the bot as a member: type /invite @countersign there"

  test("one of several that can't be used is a warning: the others can", async () => {
    const { found } = await setUp()
    expect(await found({ file: { channels: [OPS, NO_BOT] } })).toEqual({
      faults: [],
      warnings: [`channels: ${NO_BOT} (#no-bot) ${invite}.`],
    })
  })

  test.each<[string, (slack: SandboxSlack) => void, RegExp]>([
    [
      "without the bot",
      ({ workspace }) => workspace.leave(OPS, BOT),
      /\(#ops\) does not have the bot as a member: type \/invite @countersign there\. A run can be started nowhere then\.$/,
    ],
    [
      "archived",
      ({ workspace }) => workspace.alterChannel(OPS, { is_archived: true }),
      /\(#ops\) is archived: unarchive it, or take it out\./,
    ],
    [
      "private, without the bot",
      ({ workspace }) => {
        workspace.alterChannel(OPS, { kind: "private" })
        workspace.leave(OPS, BOT)
      },
      /is no channel that Slack shows to the bot: type \/invite @countersign there if it is private, else put the right id\./,
    ],
  ])("the only one, when it is %s, is a fault", async (_, alter, words) => {
    const { slack, found } = await setUp()
    alter(slack)
    expect(await found()).toEqual({ faults: [expect.stringMatching(words)], warnings: [] })
  })

  test("a public one without the bot will do with chat:write.public", async () => {
    const { workspace, found } = await setUp()
    workspace.scopes.add("chat:write.public")
    expect(await found({ file: { channels: [NO_BOT] } })).toEqual(NOTHING)
  })

  test("the audit channel must have the bot", async () => {
    const { workspace, found } = await setUp()
    workspace.leave(AUDIT, BOT)
    expect((await found()).faults).toEqual([
      expect.stringMatching(/^audit\.channel: C0AUDIT is no channel .* The audit can't be written then\.$/),
    ])
  })

  test.each<[string, Parameters<SandboxSlack["workspace"]["alterChannel"]>[1], string]>([
    ["public", { kind: "channel" }, "public"],
    ["shared", { is_ext_shared: true }, "shared with others"],
  ])("masked args don't go to a channel that is %s", async (_, change, seen) => {
    const { workspace, found } = await setUp()
    workspace.alterChannel(AUDIT, change)
    expect(await found()).toEqual({
      faults: [
        `audit.args is masked, but C0AUDIT (#audit) is ${seen}: everybody there could read every argument. Name a private, unshared channel, or put args: digest.`,
      ],
      warnings: [],
    })
    expect(await found({ file: { audit: { channel: AUDIT, args: "digest" } } })).toEqual(NOTHING)
    expect(await found({ file: { audit: { channel: AUDIT } } })).toEqual(NOTHING)
  })

  test("a name with control characters reaches no terminal", async () => {
    const { workspace, found } = await setUp()
    workspace.alterChannel(NO_BOT, { name: "no\u001b[2J\nbot\u202e" })
    expect((await found({ file: { channels: [OPS, NO_BOT] } })).warnings).toEqual([
      `channels: ${NO_BOT} (#no[2Jbot) ${invite}.`,
    ])
  })
})

describe("people", () => {
  test.each<[string, Parameters<SandboxSlack["workspace"]["alterPerson"]>[1], string]>([
    ["deactivated", { deleted: true }, "is deactivated"],
    ["a guest", { is_restricted: true }, "is a guest, and guests may do nothing"],
    ["a guest of one channel", { is_ultra_restricted: true }, "is a guest, and guests may do nothing"],
    ["a bot", { is_bot: true }, "is a bot, and only people count"],
    ["of another organisation", { team_id: "T0ELSE" }, "belongs to another organisation"],
  ])(
    "somebody who is %s is warned of, in every list they stand in, and is a fault when nobody else does",
    async (_, change, words) => {
      const { workspace, found } = await setUp()
      workspace.alterPerson(ROBIN, change)
      expect(await found({ file: { starters: [ROBIN, ADA], admins: [ROBIN] } })).toEqual({
        faults: [],
        warnings: [`starters, admins: ${ROBIN} (robin) ${words}: take the id out.`],
      })
      expect(await found()).toEqual({
        faults: [`starters: ${ROBIN} (robin) ${words}: take the id out. Nobody may start a run then.`],
        warnings: [],
      })
    },
  )

  test("admins that don't count stop nothing", async () => {
    const { workspace, found } = await setUp()
    workspace.alterPerson(GRACE, { deleted: true })
    expect(await found()).toEqual({
      faults: [],
      warnings: [`admins: ${GRACE} (grace) is deactivated: take the id out.`],
    })
  })

  test("an id that is nobody's is a fault wherever it stands", async () => {
    const { found } = await setUp()
    const { faults } = await found({ file: { admins: ["U0TYPO", GRACE] } })
    expect(faults).toEqual([expect.stringMatching(/^admins: U0TYPO is nobody's id: put the right one/)])
  })

  test("a rule's own approvers are looked at like the file's", async () => {
    const { workspace, found } = await setUp()
    workspace.alterPerson(OSCAR, { deleted: true })
    const approvals = [{ tool: "restart_*", do: "ask", approvers: [OSCAR] }]
    expect(await found({ file: { approvals } })).toEqual({
      faults: [
        `approvals[0].approvers: ${OSCAR} (oscar) is deactivated: take the id out. Nobody may approve restart_* then.`,
      ],
      warnings: [],
    })
  })

  test("whom an escalation brings in, and where cards stand besides, is looked at like the rest", async () => {
    const { found } = await setUp()
    const escalate = { after: "5m", to: ["S0NONE"], channel: NO_BOT }
    const rule = { tool: "restart_service", do: "ask", cards: { channel: "C0NONE" }, escalate }
    const { faults, warnings } = await found({ file: { approvals: [rule], escalate: { after: "5m", to: [OSCAR] } } })
    expect(faults).toEqual([
      expect.stringMatching(/^approvals\[0\]\.escalate\.to: S0NONE .* Nobody would be brought in then\.$/),
    ])
    expect(warnings).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^approvals\[0\]\.cards\.channel: C0NONE is no channel that Slack shows to the bot/),
        expect.stringMatching(/^approvals\[0\]\.escalate\.channel: C0NOBOT .*does not have the bot as a member/),
      ]),
    )
  })

  test("where the cards of direct messages stand is looked at, too", async () => {
    const { found } = await setUp()
    expect(await found({ file: { doors: { message: { cards: NO_BOT } } } })).toEqual({
      faults: [],
      warnings: [
        "doors.message.cards: C0NOBOT (#no-bot) does not have the bot as a member: type /invite @countersign there.",
      ],
    })
  })

  test("what Slack can't tell now is a warning, once for all", async () => {
    const { workspace, found } = await setUp()
    workspace.misbehave({ method: "users.info", do: "error", error: "internal_error", times: 99 })
    expect(await found()).toEqual({
      faults: [],
      warnings: [`${ROBIN}, ${GRACE} couldn't be checked: Slack says "internal_error".`],
    })
  })

  test.each<[string, (slack: SandboxSlack) => void, RegExp]>([
    [
      "is not there",
      ({ workspace }) => workspace.groups.delete(SRE),
      /^approvers: S0SRE is no user group: put the right id\. Nobody may approve then\.$/,
    ],
    [
      "is disabled",
      ({ workspace }) => workspace.alterGroup(SRE, { disabled: true }),
      /^approvers: S0SRE is a disabled user group: enable it in Slack, or take it out\. Nobody may approve then\.$/,
    ],
    [
      "has no members",
      ({ workspace }) => workspace.alterGroup(SRE, { users: [] }),
      /^approvers: S0SRE is a user group without members: add some in Slack\. Nobody may approve then\.$/,
    ],
    [
      "is of a paid plan that there isn't",
      ({ workspace }) => void (workspace.paid = false),
      /^approvers: S0SRE is a user group, which only paid Slack plans have: list people \(U…\) instead\./,
    ],
  ])("a user group that %s is a fault when it is all there is", async (_, alter, words) => {
    const { slack, found } = await setUp()
    alter(slack)
    expect(await found()).toEqual({ faults: [expect.stringMatching(words)], warnings: [] })
  })

  test.each<[string, (slack: SandboxSlack) => void, RegExp]>([
    [
      "public",
      ({ workspace }) => workspace.alterChannel("C0TEAM", { kind: "channel" }),
      /^approvers: C0TEAM \(#team\) is public, and anybody can join it, so its members don't count/,
    ],
    [
      "shared",
      ({ workspace }) => workspace.alterChannel("C0TEAM", { is_ext_shared: true }),
      /is shared with others, so its members don't count/,
    ],
    ["archived", ({ workspace }) => workspace.alterChannel("C0TEAM", { is_archived: true }), /is archived/],
    [
      "hidden from the bot",
      ({ workspace }) => workspace.leave("C0TEAM", BOT),
      /is no channel that Slack shows to the bot/,
    ],
    [
      "the bot's alone",
      ({ workspace }) => workspace.alterChannel("C0TEAM", { members: [BOT] }),
      /has no members but the bot: invite those who shall approve/,
    ],
  ])("a channel of approvers that is %s lets nobody approve", async (_, alter, words) => {
    const { slack, found } = await setUp()
    slack.workspace.addChannel({ id: "C0TEAM", name: "team", kind: "private", members: [BOT, ADA, GRACE] })
    expect(await found({ file: { approvers: ["C0TEAM"] } })).toEqual(NOTHING)
    alter(slack)
    expect(await found({ file: { approvers: ["C0TEAM"] } })).toEqual({
      faults: [expect.stringMatching(words)],
      warnings: [],
    })
  })
})

describe("who could approve", () => {
  test.each<[string, Record<string, unknown>, string[]]>([
    [
      "the only approver is the only starter",
      { starters: [ADA], approvers: [ADA] },
      [
        `Nobody can approve restart_service, scale_service: ${ADA} is the only approver and the only starter, and selfApproval is false. List another approver, or set selfApproval to true or confirm.`,
      ],
    ],
    [
      "the only approver is one of the starters",
      { starters: [ROBIN, ADA], approvers: [ADA] },
      [
        `When ${ADA} starts a run, nobody can approve restart_service, scale_service: ${ADA} is the only approver, and selfApproval is false. List another approver, or set selfApproval to true or confirm.`,
      ],
    ],
    [
      "the group's only member is the only starter",
      { starters: [ADA], approvers: ["S0SOLO"] },
      [expect.stringMatching(/^Nobody can approve/) as string],
    ],
    [
      "a rule narrows it down",
      {
        starters: [ADA],
        approvals: [
          { tool: "scale_*", do: "ask", approvers: [ADA] },
          { tool: "restart_*", do: "deny" },
        ],
      },
      [expect.stringMatching(/^Nobody can approve scale_service: /) as string],
    ],
    [
      "several must agree, and whoever starts is one of them",
      { starters: [ADA, ROBIN], approvers: [ADA, GRACE], quorum: 2 },
      [
        `When ${ADA} starts a run, nobody can approve restart_service, scale_service: quorum is 2, there are 2 approvers, and selfApproval is false. List another approver, or lower the quorum.`,
      ],
    ],
    [
      "more must agree than there are",
      { quorum: 3, approvals: [{ tool: "scale_*", do: "ask", approvers: [ADA], quorum: 2 }] },
      [
        "countersign.yaml:1: quorum: nobody can satisfy it: quorum is 3, and there are 2 approvers. List more approvers, or lower the quorum.",
        "countersign.yaml:1: approvals[0]: nobody can satisfy it: quorum is 2, and there is one approver. List more approvers, or lower the quorum.",
      ],
    ],
    [
      "whoever edits would be missing",
      { approvals: [{ tool: "scale_*", do: "ask", quorum: 2, edit: "approvers" }] },
      [
        "countersign.yaml:1: approvals[0]: once an approver has changed the args, nobody can satisfy it: whoever edits does not vote, there are 2 approvers, and quorum is 2. List more approvers, or put edit: { by: approvers, votes: true }.",
      ],
    ],
    [
      "those who are brought in later make it enough",
      { approvals: [{ tool: "scale_*", do: "ask", quorum: 3, escalate: { after: "15m", to: [OSCAR] } }] },
      [],
    ],
    [
      "whoever edits votes all the same",
      { approvals: [{ tool: "scale_*", do: "ask", quorum: 2, edit: { by: "approvers", votes: true } }] },
      [],
    ],
    [
      "an earlier rule takes all that a later one with more conditions would",
      {
        approvals: [
          { tool: "scale_*", when: { service: "web" }, do: "ask" },
          { tool: "scale_service", when: { service: "web", replicas: 3 }, do: "deny" },
          { tool: "scale_service", when: { service: "api" }, do: "deny" },
        ],
      },
      [
        "countersign.yaml:1: approvals[1]: approvals[0] (scale_*) matches whenever this rule does, and the first match wins. Put this one first, or take it out.",
      ],
    ],
    ["selfApproval is true", { starters: [ADA], approvers: [ADA], selfApproval: true }, []],
    ["the requester confirms", { starters: [ADA], approvers: [ADA], selfApproval: "confirm" }, []],
    ["there is a second approver", { starters: [ADA], approvers: [ADA, GRACE] }, []],
    [
      "nothing is asked",
      { starters: [ADA], approvers: [ADA], approvals: [{ tool: "*", do: "allow" }] },
      [expect.stringMatching(/approvals\[0\] allows every tool/) as string],
    ],
  ])("%s", async (_, file, warnings) => {
    const { workspace, found } = await setUp()
    workspace.addGroup({ id: "S0SOLO", users: [ADA] })
    expect(await found({ file })).toEqual({ faults: [], warnings })
  })

  test("who can't be looked up makes no warning of it", async () => {
    const { workspace, found } = await setUp()
    workspace.misbehave({ method: "usergroups.users.list", do: "error", error: "internal_error", times: 9 })
    const { warnings } = await found({ file: { starters: [ADA], approvers: [ADA, SRE] } })
    expect(warnings).toEqual([`${SRE} couldn't be checked: Slack says "internal_error".`])
  })
})

describe("tools and rules", () => {
  test.each<[string, Record<string, unknown>, (string | RegExp)[]]>([
    [
      "a typing error",
      { approvals: [{ tool: "scal_service", do: "deny" }] },
      [
        "countersign.yaml:1: approvals[0]: no tool's name is scal_service; did you mean scale_service? Correct it, or take the rule out.",
      ],
    ],
    [
      "a glob that no tool has",
      {
        approvals: [
          { tool: "get_*", do: "allow" },
          { tool: "*_status_*", do: "deny" },
        ],
      },
      [
        "countersign.yaml:1: approvals[1]: no tool's name is *_status_*; there are get_status, restart_service, scale_service: put one of these, or take the rule out.",
      ],
    ],
    [
      "a part of names",
      { approvals: [{ tool: "service", do: "deny" }] },
      [
        "countersign.yaml:1: approvals[0]: no tool's name is service; did you mean restart_service or scale_service? Correct it, or take the rule out.",
      ],
    ],
    [
      "a rule behind a wider one",
      {
        approvals: [
          { tool: "get_*", do: "allow" },
          { tool: "get_status", do: "deny" },
        ],
      },
      [
        "countersign.yaml:1: approvals[1]: get_status never gets that far: approvals[0] (get_*) matches it, and the first match wins. Put it first, or take it out.",
      ],
    ],
    [
      "a pattern behind a wider one",
      {
        approvals: [
          { tool: "*_service", do: "allow" },
          { tool: "re*_service", do: "deny" },
        ],
      },
      [
        "countersign.yaml:1: approvals[1]: re*_service never gets that far: approvals[0] (*_service) matches it, and the first match wins. Put it first, or take it out.",
      ],
    ],
    [
      "rules without tools",
      { tools: [], approvals: [{ tool: "get_*", do: "allow" }] },
      [
        "countersign.yaml:1: approvals[0]: no tool's name is get_*; there are no tools: put the file of that one into tools, or take the rule out.",
      ],
    ],
    [
      "a rule behind one for all, and one that is there twice",
      {
        approvals: [
          { tool: "get_?*", do: "allow" },
          { tool: "get_?*", do: "deny" },
          { tool: "*", do: "ask" },
          { tool: "scale_service", do: "deny" },
        ],
      },
      [
        "countersign.yaml:1: approvals[1]: get_?* never gets that far: approvals[0] (get_?*) matches it, and the first match wins. Take one of them out.",
        "countersign.yaml:1: approvals[3]: scale_service never gets that far: approvals[2] (*) matches it, and the first match wins. Put it first, or take it out.",
      ],
    ],
    ["a rule for all, without tools", { tools: [], approvals: [{ tool: "*", do: "deny" }] }, []],
    [
      "tools that aren't there",
      { tools: ["./nothing.mjs"] },
      [/nothing\.mjs does not exist: correct its path in tools\.$/],
    ],
  ])("%s", async (_, file, faults) => {
    const { found } = await setUp()
    expect((await found({ file })).faults).toEqual(
      faults.map((one) => (typeof one === "string" ? one : expect.stringMatching(one))),
    )
  })
})

describe("Redis", () => {
  const only = ({ faults, warnings }: { faults: string[]; warnings: string[] }) => ({ faults, warnings })

  test("that may evict is a fault, with the command that mends it", async () => {
    const { found } = await setUp()
    const redis = await startRedis({ args: ["--maxmemory-policy", "allkeys-lru"] })
    onTestFinished(() => redis.stop())
    const env = { REDIS_URL: redis.url }
    const { faults, warnings } = await found({ env })
    expect(faults).toEqual([
      expect.stringContaining(
        "maxmemory-policy is allkeys-lru, so it deletes runs when its memory is full: CONFIG SET maxmemory-policy noeviction",
      ),
    ])
    expect(warnings).toEqual([])
    await told(redis.url, (client) => client.config("SET", "maxmemory-policy", "noeviction"))
    expect(await found({ env })).toEqual(NOTHING)
  })

  test("that keeps nothing is a warning; a replica makes it good, and is itself no place for runs", async () => {
    const { found } = await setUp()
    const redis = await startRedis({ args: ["--appendonly", "no"] })
    onTestFinished(() => redis.stop())
    expect(only(await found({ env: { REDIS_URL: redis.url } }))).toEqual({
      faults: [],
      warnings: [
        expect.stringMatching(/^Redis has neither an append-only file nor a replica.*CONFIG SET appendonly yes/),
      ],
    })
    const replica = await startRedis({ args: ["--replicaof", "127.0.0.1", String(redis.port)] })
    onTestFinished(() => replica.stop())
    await expect.poll(() => found({ env: { REDIS_URL: redis.url } }), { timeout: 10_000 }).toEqual(NOTHING)
    expect((await found({ env: { REDIS_URL: replica.url } })).faults).toEqual([
      "REDIS_URL leads to a replica, which takes no writes: name the primary.",
    ])
  })

  test("that wants a password, or another one, says so", async () => {
    const { found } = await setUp()
    const redis = await startRedis({ args: ["--requirepass", "right-password"] })
    onTestFinished(() => redis.stop())
    const at = `127.0.0.1:${redis.port}`
    expect((await found({ env: { REDIS_URL: redis.url } })).faults).toEqual([
      `Redis at ${at} wants a password: put it into REDIS_URL (redis://:password@…).`,
    ])
    const wrong = await found({ env: { REDIS_URL: `redis://:wrong-password@${at}` } })
    expect(wrong.faults).toEqual([`Redis at ${at} refuses the name or password of REDIS_URL: correct it.`])
    expect(await found({ env: { REDIS_URL: `redis://:right-password@${at}` } })).toEqual(NOTHING)
  })

  test.each<[string, () => Promise<string>, RegExp]>([
    [
      "hangs",
      async () => {
        const redis = await startRedis()
        redis.pause()
        onTestFinished(() => {
          redis.resume()
          return redis.stop()
        })
        return redis.url
      },
      /^Redis at 127\.0\.0\.1:\d+ takes connections but isn't ready \(it is loading its data, or hangs\): wait until redis-cli ping says PONG; if it doesn't, restart it\.$/,
    ],
    [
      "is loading its data",
      () => redisSaying("redis_version:7.0.0\r\nloading:1\r\nloading_eta_seconds:100\r\n"),
      /takes connections but isn't ready/,
    ],
  ])("that %s has an outage, with the remedy for that", async (_, start, words) => {
    const { found } = await setUp()
    expect(await found({ env: { REDIS_URL: await start() } })).toEqual({
      ...NOTHING,
      outages: [expect.stringMatching(words)],
    })
  })

  test("with fewer replicas than must confirm is warned of", async () => {
    const { prefix, found } = await setUp()
    expect(await found({ file: { redis: { prefix, confirm: 2 } } })).toEqual({
      faults: [],
      warnings: [
        expect.stringMatching(/^redis\.confirm wants 2 replicas to have what is accepted, but 0 are connected: /),
      ],
    })
  })

  test("whose clock is another one is warned of over HTTP, where Slack's signatures need ours right", async () => {
    const { read } = await setUp()
    const http = read({ env: { SLACK_APP_TOKEN: "", SLACK_SIGNING_SECRET: "0123456789abcdef", PORT: "4000" } })
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 300_000 })
    onTestFinished(() => void vi.useRealTimers())
    const { faults, warnings } = await check(http)
    expect({ faults, warnings }).toEqual({
      faults: [],
      warnings: [expect.stringMatching(/^Redis' clock is (299|30\d) s ahead of this machine's: /)],
    })
    expect(await check(read())).toMatchObject(NOTHING)
  })

  test.each([
    [
      "is too old",
      "redis_version:6.0.16\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n",
      "faults",
      "Redis 6.0.16 is too old: update it to 6.2 or newer, or to Valkey.",
    ],
    [
      "doesn't say its version",
      "maxmemory_policy:noeviction\r\naof_enabled:1\r\n",
      "warnings",
      "Redis doesn't say its version, so it couldn't be checked: 6.2 or newer is needed.",
    ],
    [
      "doesn't say its policy",
      "redis_version:7.2.4\r\naof_enabled:1\r\n",
      "warnings",
      "Redis doesn't say its maxmemory-policy, so it couldn't be checked: it must be noeviction.",
    ],
  ])("that %s", async (_, info, kind, words) => {
    const { found } = await setUp()
    expect(await found({ env: { REDIS_URL: await redisSaying(info) } })).toEqual({ ...NOTHING, [kind]: [words] })
  })

  test("that lets us see nothing of it says what it refuses", async () => {
    const { found } = await setUp()
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    await told(redis.url, (client) =>
      client.call("ACL", "SETUSER", "little", "on", ">pass-word", "~*", "+@all", "-info"),
    )
    const { faults } = await found({ env: { REDIS_URL: `redis://little:pass-word@127.0.0.1:${redis.port}` } })
    expect(faults).toEqual([
      expect.stringMatching(
        /^Redis at 127\.0\.0\.1:\d+ forbids what the bot needs \(NOPERM .*'info'.*\): allow the user of REDIS_URL that/,
      ),
    ])
  })

  test("with another number of shards is a fault, and looking fixes none", async () => {
    const { prefix, found } = await setUp()
    expect(await found({ file: { redis: { prefix, shards: 3 } } })).toEqual(NOTHING)
    expect(await told(redisUrl(), (client) => client.keys(`{${prefix}:*`))).toEqual([])
    const store = await Store.open({ url: redisUrl(), prefix, shards: 2, confirm: 0, outbox: false })
    await store.close()
    expect((await found({ file: { redis: { prefix, shards: 3 } } })).faults).toEqual([
      `redis.shards is 3, but Redis holds runs under the prefix "${prefix}" in 2 shards, and that can't be changed: set redis.shards to 2, or another redis.prefix.`,
    ])
    expect(await found({ file: { redis: { prefix, shards: 2 } } })).toEqual(NOTHING)
  })

  test.each([
    ["redis://redis.invalid", "without TLS (rediss://) and without a password", "Add both"],
    ["rediss://redis.invalid", "without a password", "Add it"],
    ["redis://:secret-word@redis.invalid", "without TLS (rediss://)", "Add it"],
  ])("on another machine: %s is a fault", async (url, lacks, remedy) => {
    const { found } = await setUp()
    const words = `REDIS_URL leads to another machine (redis.invalid) ${lacks}: whoever can reach it could read runs and approve them. ${remedy}, or, where nobody else can reach it, set redis: { insecure: true }.`
    const { faults } = await found({ env: { REDIS_URL: url } })
    expect(faults).toContain(words)
    expect(JSON.stringify(faults)).not.toContain("secret-word")
  })

  test("on another machine it is tried when it is said that nobody else is there", async () => {
    const { prefix, found } = await setUp()
    const env = { REDIS_URL: "redis://:secret-word@redis.invalid" }
    expect(await found({ env, file: { redis: { prefix, insecure: true } } })).toEqual({
      ...NOTHING,
      outages: [expect.stringMatching(/^Redis can't be reached at redis\.invalid:6379 \(.*redis\.invalid/)],
    })
  })
})

describe("the manifest", () => {
  test("has the command, or it is warned of", async () => {
    const { found } = await setUp()
    expect(await found({ file: { command: "/ops" } })).toEqual({
      faults: [],
      warnings: [
        expect.stringMatching(/^command is \/ops, but the app of manifest\.yml has \/agent: give the app \/ops /),
      ],
    })
  })

  test("that isn't there is no matter", () => {
    expect(checkManifest({ command: "/ops" }, "/nowhere/manifest.yml")).toMatchObject(NOTHING)
  })
})

describe("live", () => {
  test("Slack validates one message of every kind", async () => {
    const { workspace, read } = await setUp()
    expect(await check(read(), { live: true })).toMatchObject(NOTHING)
    const calls = workspace.calls.filter(({ method }) => method === "blocks.validate")
    expect(calls.length).toBe(samples().size)
  })

  test("each refusal is told with the message's name and what is wrong in it", async () => {
    const { slack } = await setUp()
    const [name, good] = [...samples()][0] ?? ["", { text: "", blocks: [] }]
    const bad = {
      text: "x",
      blocks: [{ type: "section" as const, text: { type: "mrkdwn" as const, text: "x".repeat(3001) } }],
    }
    const report = await checkLive(
      asker(slack.botToken, slack.apiUrl),
      new Map([
        ["too long", bad],
        [name, good],
        ["again", bad],
      ]),
    )
    expect(report).toEqual({
      faults: [
        expect.stringMatching(/^The message "too long" would be refused by Slack: .*3001.* at \/blocks\/0\/text/),
        expect.stringMatching(/^The message "again" would be refused by Slack: /),
      ],
      outages: [],
      warnings: [],
    })
  })

  test("waits when Slack says so; where the method isn't to be had, that is a warning", async () => {
    const { slack, workspace } = await setUp()
    const client = asker(slack.botToken, slack.apiUrl)
    workspace.misbehave({ method: "blocks.validate", do: "429", retryAfter: 1, times: 1 })
    expect(await checkLive(client)).toMatchObject(NOTHING)
    workspace.misbehave({ method: "blocks.validate", do: "error", error: "unknown_method", times: 1 })
    expect(await checkLive(client)).toEqual({
      faults: [],
      outages: [],
      warnings: ['Slack didn\'t validate the messages: Slack says "unknown_method".'],
    })
  })
})

async function told<T>(url: string, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 })
  try {
    return await question(redis)
  } finally {
    redis.disconnect()
  }
}

/** A port of this machine, and how many came to it. */
async function listening(): Promise<{ port: number; seen: () => number }> {
  let count = 0
  const server = createTcpServer((socket) => {
    count++
    socket.destroy()
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  onTestFinished(() => new Promise((closed) => server.close(() => closed())))
  return { port: (server.address() as AddressInfo).port, seen: () => count }
}

/** A server that says this about itself and has nothing stored. */
async function redisSaying(info: string): Promise<string> {
  const replies: Record<string, () => string> = {
    info: () => `$${Buffer.byteLength(info)}\r\n${info}\r\n`,
    time: () => `*2\r\n$10\r\n${Math.floor(Date.now() / 1000)}\r\n$1\r\n0\r\n`,
    hget: () => "$-1\r\n",
  }
  const server = createTcpServer((socket) => {
    socket.on("data", (chunk: Buffer) => {
      for (const [, name = ""] of chunk.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)\r\n/g)) {
        socket.write(replies[name.toLowerCase()]?.() ?? "+OK\r\n")
      }
    })
  })
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  onTestFinished(() => new Promise((closed) => server.close(() => closed())))
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`
}
