import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Files that take a minute: begun last, each would be waited for alone. */
const LONG = ["matrix/faults", "promises/1-", "matrix/matrix", "slack/app.clicks", "main.", "many/", "sandbox/page."]

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = LONG.findIndex((name) => moduleId.includes(`/test/${name}`))
      return found === -1 ? LONG.length : found
    }
    return (await super.sort(files)).sort((a, b) => place(a) - place(b))
  }
}

export default defineConfig({
  // What users of the library import is tested from source.
  resolve: { alias: { countersign: fileURLToPath(new URL("./src/index.ts", import.meta.url)) } },
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/redis.setup.ts"],
    // What a test writes to disk and then imports is imported as Node does it, not through vite.
    server: { deps: { external: [/\/\.data\//] } },
    // Most tests wait for Redis or a socket, so even two cores carry four files at once (vitest's default would be one).
    maxWorkers: Math.max(4, availableParallelism()),
    sequence: { sequencer: LongFirst },
    // Each file would load all modules anew, which takes as long as its tests: they keep nothing between tests.
    isolate: false,
    testTimeout: 20_000,
    expect: { poll: { timeout: 10_000 } },
    hookTimeout: 30_000,
    passWithNoTests: false,
  },
})
