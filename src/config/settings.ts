/**
 * What countersign.yaml may say: one zod object, whose messages complete the sentence "<path> …" and name the remedy.
 * It knows the form of every setting, and asks neither Slack nor Redis; of the disk a file of MCP servers alone.
 */
import { resolve } from "node:path"
import { z } from "zod"
import type { ApprovalRule, Asking } from "../core/rules.ts"
import { agents } from "./agents.ts"
import { approvals } from "./approvals.ts"
import { approvers, asking, duration, selfApproval } from "./asking.ts"
import { doors } from "./doors.ts"
import { count, ids, mapping, said } from "./forms.ts"
import { httpTools } from "./http-tools.ts"
import { mcpServers } from "./mcp.ts"
import { modelSettings } from "./model.ts"
import { signIn } from "./oauth.ts"
import type { Surroundings } from "./references.ts"

const PEOPLE = "users (U…) and user groups (S…)"

export function settings(around: Surroundings) {
  const { folder } = around
  const model = modelSettings(around)

  return mapping({
    model,
    instructions: z.string({ error: said("text for the model") }).default(""),
    tools: z
      .array(
        z
          .string({ error: said("a file's path") })
          .min(1, { error: "is empty: put a file's path" })
          .transform((path) => resolve(folder, path)),
        { error: said("a list of files, such as [ ./tools/ops.mjs ]") },
      )
      .default([]),
    httpTools: httpTools(around),
    mcpServers: mcpServers(around).prefault({}),
    signIn: signIn.optional(),
    command: z
      .string({ error: said("the slash command, such as /agent") })
      // Slack's own rule; a command in capitals would never be the one that Slack sends.
      .regex(/^\/[a-z0-9_-]{1,31}$/, {
        error: said(
          "the slash command as Slack has it, such as /agent: a slash and up to 31 of a-z, 0-9, _ and -, no capitals",
        ),
      })
      .default("/agent"),
    starters: ids(["U", "S"], PEOPLE).default([]),
    doors,
    channels: ids(["C"], "channels (C…)").default([]),
    ...z.object(asking).partial().shape,
    approvers: approvers.default([]),
    admins: ids(["U", "S"], PEOPLE).default([]),
    // None listed: nobody is sent anywhere to sign in. The address comes from a tool at work, and may be anybody's.
    authorizationHosts: z
      .array(
        z
          .string({ error: said("a host's name, such as login.example.com") })
          .regex(/^(?:\*\.)?[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,20}$/, {
            error: said(
              "a host's name in small letters, such as login.example.com or *.example.com: no https://, no port",
            ),
          }),
        { error: said("a list of hosts, such as [ login.example.com ]") },
      )
      .default([]),
    selfApproval: selfApproval.default(false),
    expiresIn: duration.prefault("1h"),
    startWithin: duration.prefault("15m"),
    maxAsksPerTurn: count("cards", 1, 100, 10),
    approvals: approvals.default([]),
    agents: agents(around).default({}),
    audit: mapping(
      {
        channel: ids.one(["C"]),
        // Left out: masked where the channel is private and unshared, else digest.
        args: z.enum(["masked", "digest"], { error: said("masked or digest") }).optional(),
      },
      "{ channel: C0AUDIT }",
    ).optional(),
    redis: mapping(
      {
        prefix: z
          .string({ error: said("a word") })
          .regex(/^[A-Za-z0-9_.-]{1,64}$/, { error: said("a word of letters, digits, _, . and -") })
          .default("countersign"),
        shards: count("shards", 1, 1_024, 1),
        confirm: count("replicas", 0, 100, 0),
        keepEnded: duration.prefault("30d"),
        // A Redis on another machine without TLS or password, in a network that nobody else is in.
        insecure: z.boolean({ error: said("true or false") }).default(false),
        // What REDIS_URL names, where that is not one server.
        cluster: z.boolean({ error: said("true or false") }).default(false),
        sentinel: z
          .string({ error: said("the name that the sentinels know the primary by, such as mymaster") })
          .regex(/^[A-Za-z0-9._-]{1,100}$/, {
            error: said("the name that the sentinels know the primary by, such as mymaster"),
          })
          .optional(),
      },
      "{ prefix: countersign }",
    ).prefault({}),
    limits: mapping(
      {
        process: count("runs", 1, 10_000, 100),
        requester: count("runs", 1, 100_000, 100),
        channel: count("runs", 1, 1_000_000, 1_000),
        // Of what people attach to one message.
        files: count("files", 0, 10, 5),
        megabytes: count("megabytes", 1, 20, 5),
      },
      "{ requester: 100 }",
    ).prefault({}),
  }).check(satisfiable)
}

/** What the file says for all must leave somebody who can say yes under each rule. */
function satisfiable({ value, issues }: { value: Whole; issues: z.core.$ZodRawIssue[] }): void {
  for (const [index, rule] of value.approvals.entries()) {
    const remedy = rule.do === "ask" ? remedyOf(value, rule) : undefined
    if (remedy === undefined) continue
    const message = `can be approved by nobody: a quorum and selfApproval: confirm, where the requester alone confirms, one of them said for the whole file. Put ${remedy} into this rule`
    issues.push({ code: "custom", input: rule, path: ["approvals", index], message })
  }
}

type Whole = Asking & { approvals: ApprovalRule[] }

/** Undefined too where the rule itself says both, which is a fault of its own. */
function remedyOf({ quorum = 1, selfApproval }: Asking, rule: ApprovalRule): string | undefined {
  if (rule.selfApproval === "confirm") return rule.quorum === undefined && quorum > 1 ? "quorum: 1" : undefined
  const inherits = rule.selfApproval === undefined && selfApproval === "confirm"
  return inherits && (rule.quorum ?? 1) > 1 ? "selfApproval: false" : undefined
}
