// A scanner that others keep is the measure of our own table: whatever of its rules finds a token, the mask must cover.
// Its patterns are taken from its rules as they look at a text, so that a newer one brings what it has learned.
import { creator } from "@secretlint/secretlint-rule-preset-recommend"
import { generateKeyPairSync } from "node:crypto"
import fc from "fast-check"
import { expect, test } from "vitest"
import { mask } from "../../src/core/mask.ts"

type Range = readonly [start: number, end: number]
/** As much of its rules as is needed here: its types are in a package of their own. */
interface Rule {
  meta: { id: string; defaultOptions?: object }
  create(context: object, options: object): { file?(source: object): unknown }
}
const preset = creator as unknown as {
  create(context: { sharedOptions: object; registerRule(rule: Rule): void }, options: object): void
}

const rules: Rule[] = []
preset.create({ sharedOptions: {}, registerRule: (rule) => rules.push(rule) }, {})

function look(rule: Rule, content: unknown): Range[] {
  const ranges: Range[] = []
  const context = {
    sharedOptions: {},
    createTranslator: () => () => ({ message: "", messageId: "" }),
    report: ({ range }: { range: Range }) => ranges.push(range),
    ignore: () => undefined,
  }
  rule.create(context, rule.meta.defaultOptions ?? {}).file?.({ content, contentType: "text", filePath: "", ext: "" })
  return ranges
}

/** What the rule looks for. */
function patternsOf(rule: Rule): RegExp[] {
  const patterns: RegExp[] = []
  const content = {
    length: 0,
    toString: () => "",
    matchAll: (pattern: RegExp) => {
      patterns.push(pattern)
      return []
    },
  }
  look(rule, content)
  return patterns
}

/** Texts that a pattern finds, whatever it wants to stand around them. */
const matching = (pattern: RegExp): fc.Arbitrary<string> => {
  const source = pattern.source
    .replaceAll(/\(\?<?[!=](?:\[[^\]]*\]|\\.|[^()\\])*\)/g, "")
    .replaceAll(String.raw`\b`, "")
    // Blanks of no ordinary text are not what this is about.
    .replaceAll(String.raw`\s*`, " *")
    .replaceAll(/\(\?<\w+>/g, "(")
  return fc.stringMatching(new RegExp(`^(?:${source})$`, pattern.flags.replaceAll(/[gim]/g, "")))
}

const { privateKey: rsa } = generateKeyPairSync("rsa", { modulusLength: 1024 })
const { privateKey: ec } = generateKeyPairSync("ec", { namedCurve: "P-256" })

const some = (length: number): string => "a1B2c3D4e5F6g7H8i9J0".repeat(10).slice(0, length)

/** For rules that look into what they find, and for those that tell of addresses, where a quote ends ours. */
const REAL: Record<string, string[]> = {
  privatekey: [
    ...(["pkcs1", "pkcs8"] as const).map((type) => rsa.export({ type, format: "pem" }).toString()),
    ...(["sec1", "pkcs8"] as const).map((type) => ec.export({ type, format: "pem" }).toString()),
  ],
  "1password": [
    `ops_${Buffer.from(JSON.stringify({ email: "a@b.c", muk: { k: "x".repeat(80) } })).toString("base64")}`,
  ],
  sendgrid: [`SG.${some(22)}.${some(43)}`, `SG.${some(22)}.${some(20)}-${some(22)}`],
  npm: [`https://${some(40)}:x-oauth-basic@github.com/x/y.git`, `npm_${some(36)}`, `npm_${some(20)}_${some(15)}`],
  basicauth: ["https", "http", "ftp"].map(
    (scheme) => `${scheme}://${"user-1_".repeat(30)}:${some(200)}@h-1.example.org/x`,
  ),
  "database-connection-string": [
    "mongodb",
    "mongodb+srv",
    "mysql",
    "jdbc:mysql",
    "mysqlx",
    "postgres",
    "postgresql",
  ].flatMap((scheme) =>
    [some(16), `${some(16)}!?#;$&()`, `p%40${some(16)}`].map((password) => `${scheme}://app:${password}@h:1/db?x=y`),
  ),
}

/** Those that tell of a whole text, or of no secret. */
const OTHERS = new Set(["filter-comments", "gcp"])
const table = rules
  .map((rule) => ({ rule, name: rule.meta.id.replace("@secretlint/secretlint-rule-", "") }))
  .filter(({ name }) => !OTHERS.has(name))
  .flatMap(({ rule, name }) => patternsOf(rule).map((pattern) => ({ rule, name, pattern })))

test("the scanner has rules, and they can be asked what they look for", () => {
  expect(new Set(table.map(({ name }) => name)).size).toBeGreaterThan(20)
})

test.each(table)("what the rule of $name finds is masked: $pattern", ({ rule, name, pattern }) => {
  const real = REAL[name]
  const texts = real ? fc.constantFrom(...real) : matching(pattern)
  let hits = 0
  fc.assert(
    fc.property(
      texts,
      fc.constantFrom("", "use ", "X=", '"', "a: "),
      fc.constantFrom("", " now", "; ls", '"'),
      (token, before, after) => {
        const text = before + token + after
        for (const range of look(rule, text)) {
          const secret = secretOf(text.slice(...range), text.slice(range[0]))
          if (secret.length < SHORTEST) continue
          hits += 1
          expect(mask(text).text).not.toContain(secret)
        }
      },
    ),
    { numRuns: 50 },
  )
  expect(hits).toBeGreaterThan(0)
})

/** Made up tokens may be of a few characters; real ones are not. */
const SHORTEST = 16

/** A rule may tell of a whole address, or of a name with its value; of that it counts as many letters as the value has. */
function secretOf(found: string, rest: string): string {
  if (/hooks\.slack/i.test(found)) return found.replace(/^.*\/services\//i, "")
  const value = /^["']?(?:aws)?_?secret.*?(?::|=>|=)\s*["']?([\w/+=]{40})/i.exec(rest)?.[1]
  if (value !== undefined) return value
  if (!found.includes("://")) return found
  return /:\/\/[^\s:@/]*:([^\s@/]+)@/.exec(found)?.[1] ?? /:\/\/([^\s:@/]+):x-oauth-basic@/.exec(found)?.[1] ?? ""
}
