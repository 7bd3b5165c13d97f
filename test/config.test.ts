import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { readConfig } from "../src/config.ts"
import { scratchFolder } from "./redis.ts"

const folder = await scratchFolder("config")
const ENV = { SLACK_BOT_TOKEN: "xoxb-1-secret", SLACK_APP_TOKEN: "xapp-1-secret", OPENAI_API_KEY: "sk-very-secret" }
const WHOLE = `
model:        { provider: openai-compatible, baseUrl: https://api.example.com/v1, model: big-1, apiKey: "\${OPENAI_API_KEY}", maxTurns: 20, maxTokens: 200000 }
instructions: Be brief.
tools:        [ ./tools/ops.mjs ]
command:      /agent
starters:     [ U0123, S0ENG ]
channels:     [ C0OPS ]
approvers:    [ S0SRE, C0SRE, W0789 ]
admins:       [ U0456 ]
authorizationHosts: [ login.example.com, "*.corp.example" ]
selfApproval: confirm
expiresIn:    1h
startWithin:  15m
maxAsksPerTurn: 10
approvals:
  - { tool: "get_*", do: allow }
  - { tool: "deploy", do: ask, expiresIn: 30m, approvers: [ U0456 ], selfApproval: true, startWithin: 3s }
  - { tool: "*", do: deny }
audit:        { channel: C0AUDIT, args: masked }
redis:        { prefix: countersign, shards: 1, confirm: 0, keepEnded: 30d }
`
const LEAST = "model: { provider: demo }\n"
const DOORS = "starters: [ U1 ]\nchannels: [ C1 ]\naudit: { channel: C2 }\n"
/** As the file's own order has them. */
const SETTINGS = [
  "model, instructions, tools, httpTools, mcpServers, signIn, command, starters, doors, channels",
  "approvers, selfApproval, quorum, expiresIn, startWithin, notify, cards, remind, escalate, reason, edit, grant, mask",
  "admins, authorizationHosts, maxAsksPerTurn, approvals",
  "agents",
  "audit, redis, limits",
].join(", ")

let files = 0
function file(content: string | Buffer): string {
  const path = join(folder, `${++files}.yaml`)
  writeFileSync(path, content)
  return path
}

function read(content: string | Buffer, env: NodeJS.ProcessEnv = {}) {
  return readConfig({ ...ENV, COUNTERSIGN_CONFIG: file(content), ...env })
}

/** The faults, without the file's path, which differs from test to test. */
function faults(content: string | Buffer, env: NodeJS.ProcessEnv = {}): string[] {
  const reading = read(content, env)
  return reading.faults.map((fault) => fault.replace(/^\/.*?\d+\.yaml:?/, ""))
}

function config(content: string, env: NodeJS.ProcessEnv = {}) {
  const reading = read(content, env)
  if (!reading.ok) throw new Error(reading.faults.join("\n"))
  return reading
}

describe("the file", () => {
  test("is read whole: durations in milliseconds, paths from its own folder, the key from the environment", () => {
    const reading = config(WHOLE)
    expect(reading.config).toEqual({
      file: expect.stringMatching(/\.yaml$/),
      model: {
        provider: "openai-compatible",
        baseUrl: "https://api.example.com/v1",
        model: "big-1",
        apiKey: "sk-very-secret",
        maxTurns: 20,
        maxTokens: 200_000,
        contextTokens: 100_000,
        stream: true,
      },
      instructions: "Be brief.",
      tools: [join(folder, "tools/ops.mjs")],
      httpTools: [],
      mcpServers: { servers: [], notes: [] },
      command: "/agent",
      starters: ["U0123", "S0ENG"],
      doors: { command: true, mention: true, reply: true, message: false },
      channels: ["C0OPS"],
      approvers: ["S0SRE", "C0SRE", "W0789"],
      admins: ["U0456"],
      authorizationHosts: ["login.example.com", "*.corp.example"],
      selfApproval: "confirm",
      expiresIn: 3_600_000,
      startWithin: 900_000,
      maxAsksPerTurn: 10,
      approvals: [
        { tool: "get_*", do: "allow" },
        {
          tool: "deploy",
          do: "ask",
          expiresIn: 1_800_000,
          approvers: ["U0456"],
          selfApproval: true,
          startWithin: 3_000,
        },
        { tool: "*", do: "deny" },
      ],
      agents: {},
      audit: { channel: "C0AUDIT", args: "masked" },
      redis: {
        url: "redis://127.0.0.1:6379",
        prefix: "countersign",
        shards: 1,
        confirm: 0,
        keepEnded: 30 * 86_400_000,
        insecure: false,
        cluster: false,
      },
      limits: { process: 100, requester: 100, channel: 1_000, files: 5, megabytes: 5 },
      slack: {
        botToken: "xoxb-1-secret",
        apiUrl: "https://slack.com/api/",
        transport: { kind: "socket", appToken: "xapp-1-secret" },
      },
      logLevel: "info",
    })
    expect(reading.warnings).toEqual([])
    expect(reading.secrets).toEqual(["xoxb-1-secret", "xapp-1-secret", "sk-very-secret"])
  })

  test("may leave everything but the model out: nothing is allowed then, and the warnings say so", () => {
    const { config: least, warnings } = config(LEAST)
    expect(least).toMatchObject({
      model: { provider: "demo", maxTurns: 20, maxTokens: 200_000, contextTokens: 100_000, stream: true },
      tools: [],
      command: "/agent",
      starters: [],
      channels: [],
      approvers: [],
      admins: [],
      authorizationHosts: [],
      selfApproval: false,
      expiresIn: 3_600_000,
      startWithin: 900_000,
      maxAsksPerTurn: 10,
      approvals: [],
      redis: {
        prefix: "countersign",
        shards: 1,
        confirm: 0,
        keepEnded: 30 * 86_400_000,
        insecure: false,
        cluster: false,
      },
      limits: { process: 100, requester: 100, channel: 1_000, files: 5, megabytes: 5 },
    })
    expect(least.audit).toBeUndefined()
    expect(warnings).toEqual([
      `starters is empty: nobody may start a run. List them in ${least.file}, such as starters: [ U0123, S0ENG ].`,
      `channels is empty: a run may be started nowhere. List them in ${least.file}, such as channels: [ C0OPS ].`,
      `approvers is empty: nobody may approve, and what is asked expires. List them in ${least.file}, such as approvers: [ S0SRE ].`,
      `audit is missing: what is asked, decided and run is told in no channel, only in the bot's log. Name one in ${least.file}, such as audit: { channel: C0AUDIT }.`,
    ])
  })

  test("with no approvers at all is no matter where every rule names its own or asks nobody", () => {
    const rules = `approvals: [ { tool: a, do: ask, approvers: [ U1 ] }, { tool: "*", do: deny } ]`
    expect(config(`${LEAST}${DOORS}${rules}`).warnings).toEqual([])
  })

  test("with no approvers at all is no matter where the requester alone confirms", () => {
    const doors = `${LEAST}${DOORS}`
    expect(config(`${doors}selfApproval: confirm`).warnings).toEqual([])
    const other = `approvals: [ { tool: a, do: ask, selfApproval: false } ]`
    expect(config(`${doors}selfApproval: confirm\n${other}`).warnings).toHaveLength(1)
  })

  test("may begin with a UTF-8 byte order mark", () => {
    expect(config(`\uFEFF${LEAST}`).config.model.provider).toBe("demo")
  })

  test.each<[string, string | Buffer, string[]]>([
    ["an empty file", "", [' is empty: README, "Configuration", has a file to start from.']],
    ["comments alone", "# nothing\n", [' is empty: README, "Configuration", has a file to start from.']],
    ["a list", "- a\n", [' must be a mapping of settings, such as "starters: [ U0123 ]".']],
    ["a word", "hello\n", [' must be a mapping of settings, such as "starters: [ U0123 ]".']],
    ["NUL bytes", "model: \0\n", [" has NUL bytes: save it as UTF-8 text (UTF-16 is not read)."]],
    [
      "UTF-16",
      Buffer.from(`\uFEFF${LEAST}`, "utf16le"),
      [" has NUL bytes: save it as UTF-8 text (UTF-16 is not read)."],
    ],
    ["Latin-1", Buffer.from("instructions: caf\xe9\n", "latin1"), [" is not UTF-8 text: save it as UTF-8."]],
    ["a huge file", `#${"x".repeat(1_000_000)}`, [" is longer than a million bytes: is it the right file?"]],
    [
      "a setting twice",
      `${LEAST}command: /a\ncommand: /b\n`,
      ["3:1: this setting stands in the file twice: keep one."],
    ],
    [
      "two documents",
      `${LEAST}---\n${LEAST}`,
      ["2:1: a second document begins here: keep one, without the --- line between."],
    ],
    ["an unknown tag", "model: !!js/function x\n", ["1:8: Unresolved tag: tag:yaml.org,2002:js/function."]],
    [
      "a bare star",
      `${LEAST}approvals: [ { tool: *, do: deny } ]\n`,
      ['2:22: Alias cannot be an empty string; a value that begins with * must be quoted, such as tool: "*".'],
    ],
    [
      "a glob that begins with a bare star",
      `${LEAST}approvals:\n  - tool: *_user\n    do: deny\n`,
      ['3:11: *_user stands for nothing; a value that begins with * must be quoted, such as "*_user".'],
    ],
    [
      "a bare @name",
      `${LEAST}starters: [ @alice ]\n`,
      ["2:13: Plain value cannot start with reserved character @; put a person's id (U…) instead of a name."],
    ],
  ])("is refused in words when it is %s", (_, content, words) => {
    expect(faults(content)).toEqual(words)
  })

  const open = (bracket: string, closing: string) =>
    `the ${bracket} that begins here is not closed: put the missing ${closing}.`
  test.each<[string, string, string[]]>([
    ["in a line", "model: { provider: demo\nstarters: [ U1 ]\n", [`1:8: ${open("{", "}")}`]],
    ["over lines", "model: {\n  provider: demo,\n  maxTurns: 3\nstarters: [ U1 ]\n", [`1:8: ${open("{", "}")}`]],
    [
      "before a setting that is indented",
      "model: { provider: demo\n  maxTurns: 5\nstarters: [ U1 ]\n",
      [`1:8: ${open("{", "}")}`],
    ],
    [
      "in a list of rules",
      `${LEAST}approvals:\n  - { tool: a, do: ask\n  - { tool: b, do: deny }\nstarters: [ U1 ]\n`,
      [`3:5: ${open("{", "}")}`],
    ],
    [
      "in a list that is closed",
      `${LEAST}approvals: [\n  { tool: a, do: ask },\n  { tool: b, do: deny\n]\nstarters: [ U1 ]\nchannels: [ C1 ]\n`,
      [`4:3: ${open("{", "}")}`],
    ],
    [
      "by the wrong bracket",
      `${LEAST}approvals:\n  - { tool: a, do: ask, approvers: [ U1 }\n`,
      [`3:36: ${open("[", "]")}`],
    ],
    ["as a quote", `${LEAST}instructions: "be brief\nstarters: [ U1 ]\n`, [`2:15: ${open('"', '"')}`]],
    [
      "twice",
      `${LEAST}starters: [ U1\nchannels: [ #ops ]\nadmins: [ U2 ]\n`,
      [
        `2:11: ${open("[", "]")}`,
        `3:11: ${open("[", "]").slice(0, -1)}; # begins a comment, so a channel can't be named like that: put its id (C…).`,
      ],
    ],
  ])("says once what isn't closed %s, where it begins", (_, content, words) => {
    expect(faults(content)).toEqual(words)
  })

  test.each<[string, string, string[]]>([
    [
      "a bracket that isn't closed",
      "model: { provider: demo\nexpiresIn: 5\nstarters: [ alice ]\n",
      [
        "1:8: the { that begins here is not closed: put the missing }.",
        "2: expiresIn must be a duration, such as 30s, 15m, 12h or 14d, not 5.",
        "3: starters[0] must be a user's id (U…) or a user group's id (S…), not \"alice\".",
      ],
    ],
    [
      "a bare star",
      "approvals: [ { tool: *_user, do: ask } ]\nmodle: { provider: demo }\n",
      [
        '1:22: *_user stands for nothing; a value that begins with * must be quoted, such as "*_user".',
        expect.stringMatching(/^2: the file has no setting "modle" \(did you mean model\?\); /) as string,
      ],
    ],
    [
      "something behind which more may stand",
      "expiresIn: 5\ncommand: ]\nmodel: { provider: demo }\n",
      [
        expect.stringMatching(/^2:10: Unexpected flow-seq-end token/) as string,
        "1: expiresIn must be a duration, such as 30s, 15m, 12h or 14d, not 5.",
      ],
    ],
  ])("with %s still has its other settings looked at, and nothing is missed that may be there", (_, content, words) => {
    expect(faults(content)).toEqual(words)
  })

  test("is refused quickly when a few aliases stand for gigabytes", () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) =>
        `l${i}: &l${i} [${Array(10)
          .fill(i ? `*l${i - 1}` : "x")
          .join()}]`,
    )
    expect(faults(levels.join("\n"))).toEqual([" Excessive alias count indicates a resource exhaustion attack."])
  })

  test("that is a folder, or is not there, is named with what to do", () => {
    mkdirSync(join(folder, "dir"))
    const at = (path: string) => readConfig({ ...ENV, COUNTERSIGN_CONFIG: path })
    expect(at(join(folder, "dir"))).toMatchObject({
      ok: false,
      faults: [`${join(folder, "dir")} is a folder: name the file in COUNTERSIGN_CONFIG.`],
    })
    expect(readConfig(ENV)).toMatchObject({
      ok: false,
      faults: [
        './countersign.yaml does not exist: write it (README, "Configuration", has a file to start from), or name another in COUNTERSIGN_CONFIG.',
      ],
    })
  })
})

describe("a setting of the wrong form is one sentence with line, place and remedy", () => {
  test.each<[string, string[]]>([
    ["aprovers: [ U1 ]", [`2: the file has no setting "aprovers" (did you mean approvers?); there are ${SETTINGS}.`]],
    [
      'approvers: "U1 U2"',
      [
        '2: approvers must be a list of users (U…), user groups (S…) and private channels (C…), not "U1 U2": write [ U1, U2 ].',
      ],
    ],
    [
      "approvers: U1",
      [
        '2: approvers must be a list of users (U…), user groups (S…) and private channels (C…), not "U1": write [ U1 ].',
      ],
    ],
    ["starters: 5", ["2: starters must be a list of users (U…) and user groups (S…), not 5."]],
    ["starters: { U1: true }", ["2: starters must be a list of users (U…) and user groups (S…), not a mapping."]],
    ["starters:", ["2: starters is empty: put a list of users (U…) and user groups (S…) (a # begins a comment)."]],
    ["starters: [ alice ]", ["2: starters[0] must be a user's id (U…) or a user group's id (S…), not \"alice\"."]],
    [
      'starters: [ U1, "@alice" ]',
      [
        "2: starters[1] must be a user's id (U…) or a user group's id (S…), not the name \"@alice\": Slack copies a person's id from their profile's menu, a user group's from its own menu among People.",
      ],
    ],
    [
      "starters: [ C1 ]",
      [
        "2: starters[0] must be a user's id (U…) or a user group's id (S…), not \"C1\", a channel's id (C…).".replace(
          "C1",
          "C1",
        ),
      ],
    ],
    ["starters: [ 123 ]", ["2: starters[0] must be a user's id (U…) or a user group's id (S…), not 123."]],
    [
      'channels: [ "#ops" ]',
      [
        "2: channels[0] must be a channel's id (C…), not the name \"#ops\": Slack shows a channel's id at the end of the channel's details.",
      ],
    ],
    ["channels:\n  - #ops", ["3: channels[0] is empty: put a channel's id (C…) (a # begins a comment)."]],
    ["channels: [ U1 ]", ["2: channels[0] must be a channel's id (C…), not \"U1\", a user's id (U…)."]],
    ["expiresIn: 60", ["2: expiresIn must be a duration, such as 30s, 15m, 12h or 14d, not 60."]],
    ["expiresIn: 1h30m", ['2: expiresIn must be a duration, such as 30s, 15m, 12h or 14d, not "1h30m".']],
    ["expiresIn: 1.5h", ['2: expiresIn must be a duration, such as 30s, 15m, 12h or 14d, not "1.5h".']],
    ["expiresIn: -1h", ['2: expiresIn must be a duration, such as 30s, 15m, 12h or 14d, not "-1h".']],
    ["expiresIn: 0s", ['2: expiresIn must be at least 1s, not "0s".']],
    ["expiresIn: 11y", ['2: expiresIn must be a duration, such as 30s, 15m, 12h or 14d, not "11y".']],
    ["startWithin: 3654d", ['2: startWithin must be at most 3653d (ten years), not "3654d".']],
    ["startWithin: 999999999999d", ['2: startWithin must be at most 3653d (ten years), not "999999999999d".']],
    [
      "startWithin: 99999999999999999999d",
      ['2: startWithin must be a duration, such as 30s, 15m, 12h or 14d, not "99999999999999999999d".'],
    ],
    ["selfApproval: yes", ['2: selfApproval must be true, false or confirm, not "yes".']],
    ["selfApproval: flase", ['2: selfApproval must be true, false or confirm, not "flase".']],
    ["maxAsksPerTurn: 0", ["2: maxAsksPerTurn must be a whole number of cards from 1 to 100, not 0."]],
    ["maxAsksPerTurn: 2.5", ["2: maxAsksPerTurn must be a whole number of cards from 1 to 100, not 2.5."]],
    ['maxAsksPerTurn: "10"', ['2: maxAsksPerTurn must be a whole number of cards from 1 to 100, not "10".']],
    ...["agent", "/Agent", "/", "/a b", "/a/b", "/größe", "/agent!", `/${"a".repeat(32)}`].map(
      (command): [string, string[]] => [
        `command: ${command}`,
        [
          "2: command must be the slash command as Slack has it, such as /agent: a slash and up to 31 of a-z, 0-9, _ and -, " +
            `no capitals, not ${JSON.stringify(command)}.`,
        ],
      ],
    ),
    ["tools: ./ops.mjs", ['2: tools must be a list of files, such as [ ./tools/ops.mjs ], not "./ops.mjs".']],
    [
      "approvals: { tool: a }",
      ['2: approvals must be a list of rules, such as [ { tool: "get_*", do: allow } ], not a mapping.'],
    ],
    ["approvals:\n  - { tool: a, do: alow }", ['3: approvals[0].do must be allow, ask or deny, not "alow".']],
    ["approvals:\n  - { tool: a }", ["3: approvals[0].do is missing: put allow, ask or deny."]],
    [
      "approvals:\n  - { do: ask }",
      ["3: approvals[0].tool is missing: put a tool's name; * stands for any characters, ? for one."],
    ],
    [
      'approvals: [ { tool: "a[bc]", do: ask } ]',
      [
        '2: approvals[0].tool must be a tool\'s name (letters, digits, _ and -); * stands for any characters, ? for one, not "a[bc]".',
      ],
    ],
    [
      "approvals: [ { tool: a, do: ask, approvers: [] } ]",
      ["2: approvals[0].approvers is empty, so nobody could approve: leave it out, and the file's approvers decide."],
    ],
    [
      "approvals: [ { tool: a, do: allow, approvers: [ U1 ] } ]",
      ["2: approvals[0] asks nobody: approvers belongs to a rule with do: ask."],
    ],
    [
      "approvals: [ { tool: a, do: allow, approvers: [ alice ], expiresin: 1h, expiresIn: 1 } ]",
      [
        "2: approvals[0].approvers[0] must be a user's id (U…) or a user group's id (S…) or a channel's id (C…), not \"alice\".",
        "2: approvals[0].expiresIn must be a duration, such as 30s, 15m, 12h or 14d, not 1.",
        '2: approvals[0] has no setting "expiresin" (did you mean expiresIn?); there are tool, when, do, approvers, selfApproval, quorum, expiresIn, startWithin, notify, cards, remind, escalate, reason, edit, grant, mask.',
        "2: approvals[0] asks nobody: approvers, expiresIn belong to a rule with do: ask.",
      ],
    ],
    [
      "approvals: [ { tol: a, do: ask } ]",
      [
        '2: approvals[0] has no setting "tol" (did you mean tool?); there are tool, when, do, approvers, selfApproval, quorum, expiresIn, startWithin, notify, cards, remind, escalate, reason, edit, grant, mask.',
      ],
    ],
    ["audit: { chanel: C1 }", ['2: audit has no setting "chanel" (did you mean channel?); there are channel, args.']],
    ["audit: C0AUDIT", ['2: audit must be a mapping, such as { channel: C0AUDIT }, not "C0AUDIT".']],
    ["audit: {}", ["2: audit.channel is missing: put a channel's id (C…)."]],
    ["audit: { channel: C1, args: plain }", ['2: audit.args must be masked or digest, not "plain".']],
    ['redis: { prefix: "a{b}" }', ['2: redis.prefix must be a word of letters, digits, _, . and -, not "a{b}".']],
    ["redis: { shards: 0 }", ["2: redis.shards must be a whole number of shards from 1 to 1024, not 0."]],
    [
      "redis: { url: redis://x }",
      ['2: redis has no setting "url"; there are prefix, shards, confirm, keepEnded, insecure, cluster, sentinel.'],
    ],
    ["redis: { insecure: 1 }", ["2: redis.insecure must be true or false, not 1."]],
    ["__proto__: { a: 1 }", [`2: the file has no setting "__proto__"; there are ${SETTINGS}.`]],
  ])("%s", (line, words) => {
    expect(faults(`${LEAST}${line}\n`)).toEqual(words)
  })
})

describe("what could be read in spite of faults", () => {
  const whole = (...items: unknown[]) => ({ items, whole: true })
  const part = (...items: unknown[]) => ({ items, whole: false })

  test("is every sound setting, every sound item of a list and every sound field of a rule", () => {
    const { ok, known } = read(
      `${LEAST}expiresIn: 5
tools: [ ./a.mjs, "", ./b.mjs ]
starters: [ U1, "@alice" ]
channels: [ C1 ]
approvers: U1
admins: { U1: true }
command: /ops
approvals: [ { tool: a, do: alow, approvers: [ U2, bob ] }, 5, { tool: "b", do: deny } ]
audit: { channel: C2, args: plain }
redis: { prefix: p, shards: 0, confirm: 2 }
`,
      { SLACK_BOT_TOKEN: "x", PORT: "x", REDIS_URL: "redis://127.0.0.1:6380" },
    )
    expect(ok).toBe(false)
    expect(known).toMatchObject({
      tools: part(join(folder, "a.mjs"), join(folder, "b.mjs")),
      starters: part("U1"),
      channels: whole("C1"),
      approvers: part(),
      admins: part(),
      command: "/ops",
      selfApproval: false,
      approvals: part(
        { index: 0, tool: "a", do: undefined, approvers: part("U2"), rule: undefined },
        { index: 1, tool: undefined, approvers: undefined, rule: undefined },
        { index: 2, tool: "b", do: "deny", approvers: undefined, rule: { tool: "b", do: "deny" } },
      ),
      audit: { channel: "C2" },
      slack: { botToken: undefined, appToken: "xapp-1-secret", apiUrl: "https://slack.com/api/", http: false },
      redisUrl: "redis://127.0.0.1:6380",
    })
    expect(known.redis).toEqual({
      prefix: "p",
      confirm: 2,
      keepEnded: 30 * 86_400_000,
      insecure: false,
      cluster: false,
    })
    expect(known.at(["approvals", 2])).toMatch(/\.yaml:9: approvals\[2\]$/)
  })

  test.each([
    ["aprovers: [ U1 ]", "approvers"],
    ["agree: [ U1, C0SRE ]", "approvers"],
    ["approvers: [ U1", "approvers"],
    ["aprovers: [ alice ]", "approvers"],
    ["aprovers: [ U1", "approvers"],
    ["redis: { prefx: a }", "redis.prefix"],
    ["rdeis: { prefix: a }", "redis.prefix"],
  ])("%s: nothing is taken for what may have been meant there", (line, missing) => {
    const { known, warnings } = read(`${LEAST}${DOORS}${line}\n`)
    if (missing === "approvers")
      expect({ warnings, approvers: known.approvers }).toEqual({ warnings: [], approvers: part() })
    else expect(known.redis.prefix).toBeUndefined()
  })

  test("is nothing of the file when there is none, and no warning follows from that", () => {
    const { known, warnings } = readConfig({ ...ENV, COUNTERSIGN_CONFIG: join(folder, "gone.yaml") })
    expect(known).toMatchObject({ tools: part(), approvals: part(), audit: undefined, redis: {}, command: undefined })
    expect(known.slack.botToken).toBe("xoxb-1-secret")
    expect(warnings).toEqual([])
  })

  test.each(["approvals: 5", "approvals: [ 5 ]", "approvals: [ { tool: '*', do: alow } ]", "selfApproval: maybe"])(
    "%s: whether approvers are needed isn't known then",
    (line) => {
      const { faults: wrong, warnings } = read(`${LEAST}${DOORS}${line}\n`)
      expect(wrong).toHaveLength(1)
      expect(warnings).toEqual([])
    },
  )

  test("gives its warnings beside the faults", () => {
    const { faults: wrong, warnings } = read(`${LEAST}expiresIn: 5\nchannels: [ C1 ]\napprovers: [ U1 ]\n`)
    expect(wrong).toHaveLength(1)
    expect(warnings).toEqual([expect.stringMatching(/^starters is empty/), expect.stringMatching(/^audit is missing/)])
  })
})

describe("a rule that allows every tool", () => {
  test.each<[string, string | undefined]>([
    ['{ tool: "*", do: allow }', "approvals[0] allows every tool, nobody is asked: "],
    [
      '{ tool: a, do: ask }, { tool: "**", do: allow }',
      "approvals[1] allows every tool that no rule before it is about, nobody is asked: ",
    ],
    ['{ tool: "*", do: ask }', undefined],
    ['{ tool: "a*", do: allow }', undefined],
  ])("%s is warned of with its line", (rules, words) => {
    const { warnings } = config(`${LEAST}${DOORS}approvers: [ U1 ]\napprovals: [ ${rules} ]\n`)
    expect(warnings).toEqual(
      words === undefined
        ? []
        : [expect.stringContaining(`.yaml:6: ${words}allow by name what may run unasked, such as get_*`)],
    )
  })
})

describe("the model", () => {
  test.each<[string, string[]]>([
    ["command: /a", ['1: model is missing: put "model: { provider: … }", with openai-compatible, anthropic or demo.']],
    ["model: demo", ["1: model must be a mapping with provider: openai-compatible, anthropic or demo."]],
    [
      "model: { provider: openai }",
      [
        '1: model.provider must be openai-compatible, anthropic or demo, or a package that provides models, such as "@ai-sdk/google", not "openai".',
      ],
    ],
    ["model: { provider: antropic }", ['1: model.provider must be anthropic, not "antropic".']],
    [
      "model: {}",
      [
        '1: model.provider must be openai-compatible, anthropic or demo, or a package that provides models, such as "@ai-sdk/google", not nothing.',
      ],
    ],
    [
      "model: { provider: demo, model: x }",
      [
        '1: model has no setting "model"; there are provider, maxTurns, maxTokens, contextTokens, stream, settings, prices.',
      ],
    ],
    [
      'model: { provider: "@ai-sdk/google" }',
      ["1: model.model is missing: put the model's name, as its provider writes it."],
    ],
    [
      "model: { provider: demo, settings: { temperature: 3, topK: 0.5, seed: -1, stop: END, maxTokens: 9 } }",
      [
        "1: model.settings.temperature must be a number from 0 to 2, not 3.",
        "1: model.settings.topK must be a whole number from 1 to 10000, not 0.5.",
        '1: model.settings.stop must be a list of texts, such as [ "END" ], not "END".',
        "1: model.settings.seed must be a whole number from 0 to 2147483647, not -1.",
        '1: model.settings has no setting "maxTokens"; there are temperature, topP, topK, maxOutputTokens, stop, presencePenalty, frequencyPenalty, seed, providerOptions.',
      ],
    ],
    [
      "model: { provider: demo, prices: { input: free, cachedInput: -1, currency: euro } }",
      [
        '1: model.prices.input must be what a million tokens cost, such as 2.5, not "free".',
        "1: model.prices.output is missing: put what a million tokens cost, such as 2.5.",
        "1: model.prices.cachedInput must be what a million tokens cost, such as 2.5, not -1.",
        '1: model.prices.currency must be a currency\'s three letters, such as USD, not "euro".',
      ],
    ],
    [
      "model: { provider: anthropic }",
      [
        "1: model.model is missing: put the model's name, as its provider writes it.",
        '1: model.apiKey must name an environment variable, such as "${OPENAI_API_KEY}".',
      ],
    ],
    [
      "model: { provider: openai-compatible, model: x }",
      ["1: model.baseUrl is missing: put an address, such as https://api.openai.com/v1."],
    ],
    [
      "model: { provider: anthropic, model: x, apiKey: sk-plain }",
      [
        '1: model.apiKey must name an environment variable, such as "${OPENAI_API_KEY}": a key does not belong into the file.',
      ],
    ],
    [
      'model: { provider: anthropic, model: x, apiKey: "${NO_SUCH}" }',
      ["1: model.apiKey uses ${NO_SUCH}, but NO_SUCH is not set: set it in the environment the bot is started in."],
    ],
    [
      'model: { provider: anthropic, model: x, apiKey: "${SLACK_BOT_TOKEN}" }',
      [
        "1: model.apiKey must not use ${SLACK_BOT_TOKEN}: that is the bot's own secret, and this goes to somebody else.",
      ],
    ],
    [
      'model: { provider: anthropic, model: "${MODEL}", apiKey: "${OPENAI_API_KEY}" }',
      ["1: model.model is taken as it stands: ${NAME} works in apiKey and baseUrl only."],
    ],
    [
      'model: { provider: openai-compatible, model: x, baseUrl: "${NO_SUCH}/v1" }',
      ["1: model.baseUrl uses ${NO_SUCH}, but NO_SUCH is not set: set it in the environment the bot is started in."],
    ],
    ...[
      "http://api.example.com",
      "http://127.0.0.1.example.com",
      "https://me:pw@api.example.com",
      "ftp://127.0.0.1",
      "api.example.com",
      "",
    ].map((url): [string, string[]] => [
      `model: { provider: openai-compatible, model: x, baseUrl: "${url}" }`,
      [
        "1: model.baseUrl must be an https address without a password in it; http is for this machine alone (127.0.0.1, localhost).",
      ],
    ]),
  ])("%s", (line, words) => {
    expect(faults(`${line}\n`)).toEqual(words)
  })

  test.each(["http://127.0.0.1:11434/v1", "http://localhost/v1", "http://[::1]:8080", "https://api.example.com"])(
    "may be at %s, without a key",
    (baseUrl) => {
      const { config: read } = config(`model: { provider: openai-compatible, model: x, baseUrl: "${baseUrl}" }`)
      expect(read.model).toEqual({
        provider: "openai-compatible",
        model: "x",
        baseUrl,
        maxTurns: 20,
        maxTokens: 200_000,
        contextTokens: 100_000,
        stream: true,
      })
    },
  )

  test("may be a package's or a module's, with wishes and prices", () => {
    const rest = "model: m, settings: { temperature: 0.2, stop: [ END ] }, prices: { input: 1, output: 2 }"
    const { config: read } = config(`model: { provider: "@ai-sdk/google", ${rest} }`)
    expect(read.model).toMatchObject({
      provider: "@ai-sdk/google",
      settings: { temperature: 0.2, stopSequences: ["END"] },
      prices: { input: 1, output: 2, currency: "USD" },
    })
    expect(read.model.settings).not.toHaveProperty("topP")
    expect(config("model: { provider: ./models/own.mjs, model: m }").config.model.provider).toMatch(
      /^\/.*\/models\/own\.mjs$/,
    )
  })

  test("takes its address from the environment, whose value is kept out of every message", () => {
    const text = 'model: { provider: openai-compatible, model: x, baseUrl: "https://${HOST}/v1" }'
    const { config: read, secrets } = config(text, { HOST: "llm.example.com" })
    expect(read.model).toMatchObject({ baseUrl: "https://llm.example.com/v1" })
    expect(secrets).toContain("llm.example.com")
    expect(faults(text, { HOST: "user:hunter2@x" }).join()).not.toContain("hunter2")
  })

  test("leaves ${NAME} in the instructions as it stands", () => {
    expect(config(`${LEAST}instructions: "\${OPENAI_API_KEY}"`).config.instructions).toBe("${OPENAI_API_KEY}")
  })
})

describe("the environment", () => {
  const bare = { SLACK_BOT_TOKEN: undefined, SLACK_APP_TOKEN: undefined }
  test.each<[string, NodeJS.ProcessEnv, string[]]>([
    [
      "no token",
      bare,
      [
        "SLACK_BOT_TOKEN is missing: put the token that begins with xoxb- (your Slack app's page, OAuth & Permissions).",
        "SLACK_APP_TOKEN is missing: put the token that begins with xapp- (your Slack app's page, Basic Information, App-Level Tokens); or, for HTTP instead of Socket Mode, set SLACK_SIGNING_SECRET and PORT.",
      ],
    ],
    [
      "tokens of nothing",
      { SLACK_BOT_TOKEN: " ", SLACK_APP_TOKEN: "" },
      [
        "SLACK_BOT_TOKEN is missing: put the token that begins with xoxb- (your Slack app's page, OAuth & Permissions).",
        "SLACK_APP_TOKEN is missing: put the token that begins with xapp- (your Slack app's page, Basic Information, App-Level Tokens); or, for HTTP instead of Socket Mode, set SLACK_SIGNING_SECRET and PORT.",
      ],
    ],
    [
      "swapped tokens",
      { SLACK_BOT_TOKEN: "xapp-1", SLACK_APP_TOKEN: "xoxb-1" },
      [
        "SLACK_BOT_TOKEN must begin with xoxb- and have no blanks (your Slack app's page, OAuth & Permissions).",
        "SLACK_APP_TOKEN must begin with xapp- and have no blanks (your Slack app's page, Basic Information, App-Level Tokens).",
      ],
    ],
    [
      "a token with a line end",
      { SLACK_BOT_TOKEN: "xoxb-1\n" },
      ["SLACK_BOT_TOKEN must begin with xoxb- and have no blanks (your Slack app's page, OAuth & Permissions)."],
    ],
    [
      "both ways to Slack",
      { SLACK_SIGNING_SECRET: "12345678" },
      ["SLACK_APP_TOKEN and SLACK_SIGNING_SECRET are both set: keep the first for Socket Mode, the second for HTTP."],
    ],
    [
      "HTTP without a port",
      { SLACK_APP_TOKEN: undefined, SLACK_SIGNING_SECRET: "12345678" },
      ["PORT is missing: with SLACK_SIGNING_SECRET, put the port that Slack's requests come to."],
    ],
    ["a wrong port", { PORT: "70000" }, ["PORT must be a port from 1 to 65535, not 70000."]],
    ["a port in words", { PORT: "http" }, ['PORT must be a port from 1 to 65535, not "http".']],
    [
      "Slack over plain http",
      { SLACK_API_URL: "http://slack.example.com/api/" },
      [
        'SLACK_API_URL must be an https address (http is for this machine alone: 127.0.0.1, localhost), not "http://slack.example.com/api/".',
      ],
    ],
    [
      "no Redis address",
      { REDIS_URL: "localhost:6379" },
      [
        "REDIS_URL must be an address such as redis://127.0.0.1:6379, or rediss://… with TLS; for a cluster or sentinels redis://host:port,host:port,….",
      ],
    ],
    [
      "a Redis address with a password and a wrong database",
      { REDIS_URL: "redis://:hunter2@h/x" },
      [
        "REDIS_URL must be an address such as redis://127.0.0.1:6379, or rediss://… with TLS; for a cluster or sentinels redis://host:port,host:port,….",
      ],
    ],
    [
      "an unknown log level",
      { LOG_LEVEL: "loud" },
      ['LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, not "loud".'],
    ],
  ])("with %s is refused in words", (_, env, words) => {
    expect(faults(LEAST, env)).toEqual(words)
  })

  test("and the file are told about together", () => {
    expect(faults(`${LEAST}expiresIn: 5\nstarters: x\n`, { SLACK_BOT_TOKEN: "x", PORT: "0" })).toEqual([
      "SLACK_BOT_TOKEN must begin with xoxb- and have no blanks (your Slack app's page, OAuth & Permissions).",
      "PORT must be a port from 1 to 65535, not 0.",
      "2: expiresIn must be a duration, such as 30s, 15m, 12h or 14d, not 5.",
      '3: starters must be a list of users (U…) and user groups (S…), not "x".',
    ])
  })

  test("chooses HTTP, a stand-in for Slack, another Redis; and their secrets are known", () => {
    const { config: read, secrets } = config(LEAST, {
      SLACK_APP_TOKEN: undefined,
      SLACK_SIGNING_SECRET: "12345678",
      PORT: "3000",
      SLACK_API_URL: "http://127.0.0.1:4000/api",
      REDIS_URL: "rediss://user:p%40ss@redis.example.com:6380/2",
      LOG_LEVEL: "debug",
    })
    expect(read.slack).toEqual({
      botToken: "xoxb-1-secret",
      apiUrl: "http://127.0.0.1:4000/api/",
      transport: { kind: "http", signingSecret: "12345678", port: 3_000 },
    })
    expect(read.redis.url).toBe("rediss://user:p%40ss@redis.example.com:6380/2")
    expect(read.logLevel).toBe("debug")
    expect(secrets).toEqual(["xoxb-1-secret", "12345678", "p@ss", "p%40ss"])
  })

  test("never finds its tokens in a message", () => {
    const said = faults("model: 1\n", {
      SLACK_BOT_TOKEN: "hunter2-a",
      SLACK_APP_TOKEN: "hunter2-b",
      REDIS_URL: "hunter2-c",
    })
    expect(said.length).toBe(4)
    expect(said.join()).not.toContain("hunter2")
  })
})
