/**
 * Whether the module that the configuration names as the model's provider is there and can be used. The provider is asked nothing.
 */
import { dirname } from "node:path"
import { loadModel } from "../agent/provider.ts"
import type { Reading } from "../config.ts"
import { fault, type Report, together } from "./report.ts"

export async function checkModel({ settings, known }: Reading): Promise<Report> {
  if (!settings) return together()
  const agents = Object.entries(settings.agents).map(([name, { model }]) => ({ path: ["agents", name], model }))
  const reports = [{ path: [], model: settings.model }, ...agents].map(async ({ path, model }) => {
    if (model === undefined || !("model" in model)) return together()
    const loaded = await loadModel(model, dirname(known.file))
    const where = known.at([...path, "model", "provider"])
    return loaded.ok ? together() : fault(`${where} "${model.provider}" ${loaded.fault}.`)
  })
  return together(...(await Promise.all(reports)))
}
