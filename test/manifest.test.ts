import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { parse } from "yaml"

const manifest: unknown = parse(readFileSync(new URL("../manifest.yml", import.meta.url), "utf8"))

test("the manifest has on what the bot can't do without: the command, buttons, Socket Mode, App Home", () => {
  expect(manifest).toMatchObject({
    _metadata: { major_version: 2 },
    features: {
      slash_commands: [{ command: "/agent", should_escape: false }],
      app_home: { home_tab_enabled: true, messages_tab_enabled: true },
    },
    settings: {
      interactivity: { is_enabled: true },
      socket_mode_enabled: true,
      event_subscriptions: {
        bot_events: ["app_home_opened", "app_mention", "message.channels", "message.groups", "message.im"],
      },
    },
  })
})

test("its required scopes are what the bot calls; reading messages stays optional", () => {
  const bot = ["commands", "chat:write", "im:write", "users:read", "usergroups:read", "channels:read", "groups:read"]
  const history = ["channels:history", "groups:history"]
  const optional = [...history, "app_mentions:read", "im:history", "assistant:write", "files:read"]
  expect(manifest).toHaveProperty("oauth_config.scopes", { bot, bot_optional: optional })
})

test("its texts keep Slack's limits", () => {
  expect(manifest).toMatchObject({
    display_information: {
      name: expect.stringMatching(/^.{1,35}$/),
      description: expect.stringMatching(/^.{1,140}$/),
    },
    features: { slash_commands: [{ usage_hint: expect.stringMatching(/^.{1,1000}$/) }] },
  })
})
