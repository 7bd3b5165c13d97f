/**
 * Bolt's real App before the local Slack, set up as the bot is: its own receiver, no waiting for rate limits, no retries.
 */
import { App, HTTPReceiver, LogLevel, SocketModeReceiver } from "@slack/bolt"
import type { AddressInfo } from "node:net"
import type { SandboxSlack } from "../../src/sandbox/slack.ts"

export const clientOptions = (slack: SandboxSlack) => ({
  slackApiUrl: slack.apiUrl,
  retryConfig: { retries: 0 },
  timeout: 2000,
  rejectRateLimitedCalls: true,
})

/** An App over Socket Mode, connected. */
export async function socketApp(slack: SandboxSlack, listen: (app: App) => void): Promise<App> {
  const receiver = new SocketModeReceiver({
    appToken: slack.appToken,
    logLevel: LogLevel.ERROR,
    installerOptions: { clientOptions: { slackApiUrl: slack.apiUrl } },
  })
  const app = new App({
    token: slack.botToken,
    receiver,
    clientOptions: clientOptions(slack),
    logLevel: LogLevel.ERROR,
    deferInitialization: true,
  })
  await app.init()
  listen(app)
  await app.start()
  return app
}

/** An App over signed HTTP, and where it listens. */
export async function httpApp(slack: SandboxSlack, listen: (app: App) => void): Promise<{ app: App; url: string }> {
  const receiver = new HTTPReceiver({ signingSecret: slack.signingSecret, logLevel: LogLevel.ERROR })
  const app = new App({
    token: slack.botToken,
    receiver,
    clientOptions: clientOptions(slack),
    logLevel: LogLevel.ERROR,
    deferInitialization: true,
  })
  await app.init()
  listen(app)
  const server = await receiver.start({ port: 0, host: "127.0.0.1" })
  return { app, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/slack/events` }
}
