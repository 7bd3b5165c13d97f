/** A port for a server that is told which one to take. */
import { createServer, type AddressInfo } from "node:net"

/** One of loopback that nobody listens on just now. */
export async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve, reject) => {
    probe.once("error", reject)
    probe.listen(0, "127.0.0.1", () => resolve())
  })
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}
