/**
 * Whether the app that manifest.yml makes has the command that the configuration names. What the app really has, no token of
 * the bot's can ask.
 */
import { fileURLToPath } from "node:url"
import { z } from "zod"
import type { Known } from "../config.ts"
import { readYaml } from "../config/yaml.ts"
import { type Report, together, warning } from "./report.ts"

const FILE = fileURLToPath(new URL("../../manifest.yml", import.meta.url))
const manifest = z.object({ features: z.object({ slash_commands: z.array(z.object({ command: z.string() })) }) })

export function checkManifest({ command }: Pick<Known, "command">, file = FILE): Report {
  if (command === undefined) return together()
  const read = readYaml(file)
  const parsed = read.faults.length === 0 ? manifest.safeParse(read.file?.data) : undefined
  if (!parsed?.success) return together()
  const commands = parsed.data.features.slash_commands.map((one) => one.command)
  if (commands.includes(command)) return together()
  return warning(
    `command is ${command}, but the app of manifest.yml has ${commands.join(", ")}: give the app ${command} (its page, Slash Commands, and manifest.yml), or nothing that people type arrives.`,
  )
}
