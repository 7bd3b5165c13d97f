/** The public MCP server `server-everything`, as a process of its own that speaks streamable HTTP on loopback. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { freePort } from "./port.ts"

const PROGRAM = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
)

export interface Everything {
  /** Where it is asked. */
  url: string
  port: number
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
}

/** Resolves when it listens; `port`: a free one unless said. */
export async function startEverything(port?: number): Promise<Everything> {
  const at = port ?? (await freePort())
  const child = spawn(process.execPath, [PROGRAM, "streamableHttp"], {
    env: { PATH: process.env["PATH"] ?? "", PORT: String(at) },
    stdio: ["ignore", "pipe", "pipe"],
  })
  await new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        if (/listening/i.test(chunk.toString())) resolve()
      })
    }
  })
  return {
    url: `http://127.0.0.1:${at}/mcp`,
    port: at,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill("SIGKILL")
      await once(child, "exit")
    },
  }
}
