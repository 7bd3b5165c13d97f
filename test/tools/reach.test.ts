import type { LookupAddress } from "node:dns"
import { expect, test } from "vitest"
import { checkHost, lookupWithin, reachOf } from "../../src/tools/reach.ts"

test.each([
  ["93.184.216.34", "public"],
  ["2606:2800:220:1:248:1893:25c8:1946", "public"],
  ["::ffff:93.184.216.34", "public"],
  ["64:ff9b::5db8:d822", "public"],
  ["127.0.0.1", "private"],
  ["127.9.9.9", "private"],
  ["10.1.2.3", "private"],
  ["172.31.255.255", "private"],
  ["192.168.0.1", "private"],
  ["100.64.0.1", "private"],
  ["::1", "private"],
  ["fd12:3456::1", "private"],
  ["::ffff:127.0.0.1", "private"],
  ["::ffff:7f00:1", "private"],
  ["64:ff9b::7f00:1", "private"],
  ["0.0.0.0", "never"],
  ["::", "never"],
  ["169.254.169.254", "never"],
  ["::ffff:169.254.169.254", "never"],
  ["64:ff9b::a9fe:a9fe", "never"],
  ["100.100.100.200", "never"],
  ["fd00:ec2::254", "never"],
  ["fe80::1", "never"],
  ["fe80::1%eth0", "never"],
  ["224.0.0.1", "never"],
  ["255.255.255.255", "never"],
  ["::7f00:1", "never"],
  ["2002:7f00:1::", "never"],
  ["2001:0:4136:e378::", "never"],
  ["nonsense", "never"],
])("%s is %s", (address, reach) => {
  expect(reachOf(address)).toBe(reach)
})

test.each([
  "http://2130706433/",
  "http://0x7f.1/",
  "http://017700000001/",
  "http://127.1/",
  "http://[::ffff:7f00:1]/",
  "http://①27.0.0.1/",
])("%s is this machine, however it is written", (url) => {
  expect(() => checkHost(new URL(url), false)).toThrow(/private network/)
  expect(() => checkHost(new URL(url), true)).not.toThrow()
})

test("the cloud's own address is out of reach also of a tool that may reach private ones", () => {
  expect(() => checkHost(new URL("http://169.254.169.254/latest/"), true)).toThrow(/no tool may reach/)
  expect(() => checkHost(new URL("http://0/"), true)).toThrow(/no tool may reach/)
})

/** What a connection gets for a name that resolves to these. */
function looked(addresses: LookupAddress[], allowPrivate = false, all = true) {
  const resolve = ((_host: string, _options: object, done: (error: null, found: LookupAddress[]) => void) =>
    done(null, addresses)) as never
  return new Promise((resolved) => {
    lookupWithin(allowPrivate, resolve)("api.example.com", { all }, (error, address, family) =>
      resolved(error ? error.message : all ? address : [address, family]),
    )
  })
}

test("a name is judged by all that it resolves to when the connection is made", async () => {
  const good = { address: "93.184.216.34", family: 4 }
  const bad = { address: "10.0.0.1", family: 4 }
  expect(await looked([good])).toEqual([good])
  expect(await looked([good], false, false)).toEqual([good.address, 4])
  expect(await looked([good, bad])).toMatch(/^api.example.com is on this machine or in a private network/)
  expect(await looked([good, bad], true)).toEqual([good, bad])
  expect(await looked([{ address: "::ffff:a9fe:a9fe", family: 6 }], true)).toMatch(/no tool may reach/)
  expect(await looked([])).toBe("api.example.com has no address")
})
