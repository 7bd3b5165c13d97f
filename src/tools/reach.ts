/**
 * Which network addresses a tool's requests may go to: judged by the address that a name has at the moment of connecting, so
 * that a name which changes its mind leads nowhere. It sends nothing.
 */
import { lookup as resolveName, type LookupAddress } from "node:dns"
import { BlockList, isIP, type LookupFunction } from "node:net"

/** public: anybody's · private: this machine, or a network of one's own · never: no server for anybody (cloud metadata, link-local, multicast, unassigned). */
export type Reach = "public" | "private" | "never"

const NEVER: readonly [string, number][] = [
  ["0.0.0.0", 8], ["169.254.0.0", 16], ["100.100.100.200", 32], ["192.0.0.0", 24], ["192.0.2.0", 24], ["192.88.99.0", 24],
  ["198.18.0.0", 15], ["198.51.100.0", 24], ["203.0.113.0", 24], ["224.0.0.0", 4], ["240.0.0.0", 4],
] // prettier-ignore
const PRIVATE: readonly [string, number][] = [
  ["10.0.0.0", 8], ["100.64.0.0", 10], ["127.0.0.0", 8], ["172.16.0.0", 12], ["192.168.0.0", 16],
] // prettier-ignore
/** Outside of 2000::/3 nothing is anybody's; within it, tunnels (which hold an IPv4 address) and documentation. */
const NEVER_6: readonly [string, number][] = [
  ["fe80::", 10], ["fec0::", 10], ["ff00::", 8], ["fd00:ec2::254", 128], ["fd20:ce::254", 128], ["2001::", 23],
  ["2001:db8::", 32], ["2002::", 16], ["3fff::", 20],
] // prettier-ignore
const PRIVATE_6: readonly [string, number][] = [["::1", 128], ["fc00::", 7]] // prettier-ignore
const GLOBAL_6: readonly [string, number][] = [["2000::", 3]]

const listOf = (subnets: readonly [string, number][], family: "ipv4" | "ipv6"): BlockList => {
  const list = new BlockList()
  for (const [net, bits] of subnets) list.addSubnet(net, bits, family)
  return list
}
const never = listOf(NEVER, "ipv4")
const own = listOf(PRIVATE, "ipv4")
const never6 = listOf(NEVER_6, "ipv6")
const own6 = listOf(PRIVATE_6, "ipv6")
const global6 = listOf(GLOBAL_6, "ipv6")
/** IPv4 addresses as IPv6 writes them, and as a NAT64 gateway does. */
const within4 = listOf([["::ffff:0:0", 96], ["64:ff9b::", 96]], "ipv6") // prettier-ignore

/** Of a literal address, IPv4 or IPv6; what is none is "never". */
export function reachOf(address: string): Reach {
  const bare = address.replace(/%.*$/, "")
  const family = isIP(bare)
  if (family === 4) return never.check(bare) ? "never" : own.check(bare) ? "private" : "public"
  if (family !== 6) return "never"
  if (within4.check(bare, "ipv6")) return reachOf(lastFour(bare))
  if (never6.check(bare, "ipv6")) return "never"
  if (own6.check(bare, "ipv6")) return "private"
  return global6.check(bare, "ipv6") ? "public" : "never"
}

/** The IPv4 address in the last 32 bits. */
function lastFour(address: string): string {
  // As a url's host it has one spelling: groups in hexadecimal.
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split(":")
  const [high = "0", low = "0"] = groups.slice(-2)
  const [a, b] = [Number.parseInt(high || "0", 16), Number.parseInt(low || "0", 16)]
  return [a >> 8, a & 255, b >> 8, b & 255].join(".")
}

/** Why a request must not go there: said to the model, so without the address itself. */
export class OutOfReach extends Error {
  override name = "OutOfReach"
  /** Whether a tool may be allowed to. */
  readonly mayBeAllowed: boolean

  constructor(words: string, mayBeAllowed = false) {
    super(words)
    this.mayBeAllowed = mayBeAllowed
  }
}

const WORDS: Record<Exclude<Reach, "public">, string> = {
  private: "is on this machine or in a private network, which this tool may not reach",
  never: "has an address that no tool may reach",
}

/** @throws OutOfReach for a url whose host is an address that may not be reached. Names are judged when they are looked up. */
export function checkHost({ hostname }: URL, allowPrivate: boolean): void {
  const literal = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname
  if (isIP(literal) !== 0) judge(hostname, [literal], allowPrivate)
}

function judge(host: string, addresses: readonly string[], allowPrivate: boolean): void {
  for (const reach of addresses.map(reachOf)) {
    if (reach === "never" || (reach === "private" && !allowPrivate))
      throw new OutOfReach(`${host} ${WORDS[reach]}`, reach === "private")
  }
}

/** For `net.connect`: resolves a name, and gives no address unless all that it has may be reached. `resolve`: for a test. */
export const lookupWithin =
  (allowPrivate: boolean, resolve: typeof resolveName = resolveName): LookupFunction =>
  (host, options, done) =>
    resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, "")
      const [first] = addresses
      const refused = first ? refusal(host, addresses, allowPrivate) : new OutOfReach(`${host} has no address`)
      if (refused || !first) return done(refused ?? null, "")
      if (options.all === true) done(null, addresses)
      else done(null, first.address, first.family)
    })

function refusal(host: string, addresses: readonly LookupAddress[], allowPrivate: boolean): Error | undefined {
  try {
    judge(host, addresses.map(({ address }) => address), allowPrivate) // prettier-ignore
  } catch (error) {
    return error as Error
  }
  return undefined
}
