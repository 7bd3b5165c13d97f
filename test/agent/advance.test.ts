import { expect, test } from "vitest"
import { advance } from "../../src/agent/advance.ts"
import type { Held } from "../../src/agent/agent.ts"
import type { Run } from "../../src/core/run.ts"
import { stumbled } from "../../src/core/stumble.ts"
import { begin } from "../../src/core/turn.ts"
import { unguarded } from "../fakes/agent.ts"
import { scriptedModel } from "../fakes/model.ts"

test.each([
  { holds: true, asked: 1 },
  { holds: false, asked: 0 },
])("what is due is begun only by who holds the run: $holds", async ({ holds, asked }) => {
  const how = { id: "r", cause: "c", requester: { team: "T1", user: "U1" }, channel: "C1", prompt: "p", keep: 1 }
  const { run } = begin({ ...how, rooted: true, via: "command", transcript: [] }, 0)
  let state = stumbled(run, { words: "busy", retryable: true, limit: 3 }, 0)?.run as Run
  const held: Held = {
    owner: "me",
    holds,
    run: () => state,
    now: () => 3_600_000,
    apply: async (transition) => {
      const { step, outcome } = transition(state, 3_600_000)
      state = step?.run ?? state
      return { outcome }
    },
    deliver: async (transition) => transition(state, 3_600_000).outcome,
    texts: async () => [],
    transcript: async () => [],
    watch: () => () => {},
  }
  const model = scriptedModel(["hello"])
  await advance(held, await unguarded(model))
  expect(model.requests).toHaveLength(asked)
})
