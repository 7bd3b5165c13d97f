import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { readConfig } from "../src/config.ts"
import { scratchFolder } from "./redis.ts"

const folder = await scratchFolder("config-redis")
const LEAST =
  "model: { provider: demo }\nstarters: [ U1 ]\nchannels: [ C1 ]\napprovers: [ U2 ]\naudit: { channel: C2 }\n"

let files = 0
function read(rest: string, env: Record<string, string> = {}) {
  const path = join(folder, `${++files}.yaml`)
  writeFileSync(path, LEAST + rest)
  return readConfig({
    SLACK_BOT_TOKEN: "xoxb-1-secret",
    SLACK_APP_TOKEN: "xapp-1-secret",
    COUNTERSIGN_CONFIG: path,
    ...env,
  })
}

function whole(rest: string, env: Record<string, string> = {}) {
  const reading = read(rest, env)
  if (!reading.ok) throw new Error(reading.faults.join("\n"))
  return reading
}

describe("where Redis is", () => {
  test("one server, and nothing else, unless the file says so", () => {
    const { config } = whole("", { REDIS_URL: "rediss://:p%40ss@redis.example:6380/2?family=6" })
    expect(config.redis).toMatchObject({ url: "rediss://:p%40ss@redis.example:6380/2?family=6", cluster: false })
    expect(config.redis.sentinel).toBeUndefined()
  })

  test("nodes of a cluster", () => {
    const { config } = whole("redis: { cluster: true, shards: 12 }", { REDIS_URL: "redis://a:7000,b:7001,[::1]:7002" })
    expect(config.redis).toMatchObject({ url: "redis://a:7000,b:7001,[::1]:7002", cluster: true, shards: 12 })
  })

  test("sentinels, whose own password is a secret like Redis'", () => {
    const url = "redis://bot:s%2Cecret@a:26379,b,c/1"
    const { config, secrets } = whole("redis: { sentinel: mymaster }", {
      REDIS_URL: url,
      REDIS_SENTINEL_PASSWORD: "watchword",
    })
    expect(config.redis).toMatchObject({ url, sentinel: "mymaster", sentinelPassword: "watchword" })
    expect(secrets).toEqual(expect.arrayContaining(["watchword", "s,ecret", "s%2Cecret"]))
  })

  test.each([
    ["redis://a,b", "", /^REDIS_URL names 2 addresses, but not what they are: put "redis: \{ cluster: true \}"/],
    ["redis://a,b/3", "redis: { cluster: true }", /^REDIS_URL names database 3, but a cluster has database 0 alone/],
    [
      "redis://a,b",
      "redis: { cluster: true, sentinel: mymaster }",
      /yaml:6: redis\.sentinel can't be said beside redis\.cluster/,
    ],
    ["redis://a,,b", "redis: { cluster: true }", /^REDIS_URL must be an address such as/],
    ["redis://a,b:x", "redis: { cluster: true }", /^REDIS_URL must be an address such as/],
    ["http://a", "", /^REDIS_URL must be an address such as/],
    ["redis://a/b", "", /^REDIS_URL must be an address such as/],
    ["redis://a", "redis: { sentinel: 'my master' }", /redis\.sentinel must be the name that the sentinels know/],
    ["redis://a", "redis: { cluster: yes please }", /redis\.cluster must be true or false/],
  ])("%s with “%s” is refused with the way out", (url, rest, words) => {
    expect(read(rest, { REDIS_URL: url }).faults).toEqual([expect.stringMatching(words)])
  })

  test("a password for sentinels that there are none of is refused", () => {
    expect(read("", { REDIS_SENTINEL_PASSWORD: "watchword" }).faults).toEqual([
      expect.stringMatching(/^REDIS_SENTINEL_PASSWORD is set, but the file names no sentinels/),
    ])
  })
})
