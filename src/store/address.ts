/**
 * What an address of Redis says: one server, or several nodes of a cluster or sentinels with commas between, which share
 * a user, a password and whether TLS is spoken. Reads text and connects to nothing.
 */

export interface Address {
  hosts: Host[]
  tls: boolean
  username: string
  password: string
  db: number
}

export interface Host {
  host: string
  /** Undefined: the usual one of whatever listens there. */
  port: number | undefined
}

/** How a Redis is reached. */
export interface Server {
  /** `redis://user:password@host:port/db`, `rediss://` with TLS; for a cluster or sentinels `host:port,host:port,…` */
  url: string
  /** Whether the url names nodes of a Redis Cluster. */
  cluster?: boolean | undefined
  /** The name of the primary that the sentinels at the url look after. */
  sentinel?: string | undefined
  /** The sentinels' own, where they want one. */
  sentinelPassword?: string | undefined
}

/** Undefined for what is no such address. */
export function addressOf(url: string): Address | undefined {
  const [, scheme, who = "", hosts = "", db = ""] =
    /^(rediss?):\/\/(?:(.*)@)?([^/?#]+)(?:\/(\d{0,4}))?(?:\?[^#]*)?$/.exec(url) ?? []
  const urls = hosts.split(",").map((host) => `redis://${who === "" ? "" : `${who}@`}${host}`)
  if (scheme === undefined || !urls.every((one) => URL.canParse(one) && new URL(one).hostname !== "")) return undefined
  const { username, password } = new URL(urls[0] ?? "")
  return {
    hosts: urls.map((one) => hostOf(new URL(one))),
    tls: scheme === "rediss",
    username: decoded(username),
    password: decoded(password),
    db: Number(db),
  }
}

const hostOf = ({ hostname, port }: URL): Host => ({
  host: hostname.replace(/^\[(.*)\]$/, "$1"),
  port: port === "" ? undefined : Number(port),
})

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
