/** Starts the one private Redis that all test files share, before the first and until after the last. */
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { needRedis, startRedis } from "../src/sandbox/redis.ts"

declare module "vitest" {
  export interface ProvidedContext {
    redisProgram: string
    redisUrl: string
    scratch: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const redis = await needRedis()
  if (!redis.ok) throw new Error(redis.fault)
  const parent = join(import.meta.dirname, "..", ".data", "test")
  await mkdir(parent, { recursive: true })
  const scratch = await mkdtemp(join(parent, "run-"))
  const server = await startRedis(redis.program, { dir: join(scratch, "redis shared") })
  project.provide("redisProgram", redis.program)
  project.provide("redisUrl", server.url)
  project.provide("scratch", scratch)
  return async () => {
    await server.stop()
    await rm(scratch, { recursive: true, force: true })
  }
}
