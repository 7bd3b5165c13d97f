/**
 * Secrets that show by their own shape, each with its kind: a prefix of its own and a random part of a closed alphabet, so
 * that nothing but the token stands behind its mask.
 */
import { matches, type Found } from "./found.ts"

/** None may begin inside a longer word; `_` may stand before it. */
const SHAPES: readonly (readonly [kind: string, ...patterns: RegExp[]])[] = [
  ["slack token", /xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{8,}/, /(?:xapp|xwfp)-[A-Za-z0-9-]{8,}/],
  ["aws key", /(?:AKIA|ASIA|ABIA|ACCA|A3T[0-9A-Z])[0-9A-Z]{16}(?![0-9A-Za-z])/, /ABSK[A-Za-z0-9+/]{40,}={0,2}/],
  ["github token", /gh[opusr]_[A-Za-z0-9_]{20,}/, /github_pat_[A-Za-z0-9_]{20,}/],
  ["gitlab token", /gl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|imt|oas)-[A-Za-z0-9_.-]{16,}/, /GR1348941[A-Za-z0-9_-]{20,}/],
  [
    "google key",
    /AIza[A-Za-z0-9_-]{30,}/,
    /ya29\.[A-Za-z0-9_-]{16,}/,
    /GOCSPX-[A-Za-z0-9_-]{16,}/,
    /1\/\/0[A-Za-z0-9_-]{30,}/,
  ],
  ["stripe key", /(?:sk|rk|pk)_(?:live|test|prod)_[A-Za-z0-9]{10,}/, /whsec_[A-Za-z0-9+/=]{16,}/],
  ["npm token", /npm_[A-Za-z0-9_]{30,}/],
  ["pypi token", /pypi-[A-Za-z0-9_-]{40,}/],
  ["sendgrid key", /SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/],
  ["hugging face token", /hf_[A-Za-z0-9]{30,}/],
  ["vault token", /(?:hv[sbr]|(?<!_)s)\.[A-Za-z0-9_-]{24,}/],
  ["digitalocean token", /(?:dop|doo|dor)_v1_[a-f0-9]{40,}/],
  ["shopify token", /shp(?:at|ca|pa|ppa|ss)_[A-Za-z0-9]{20,}/],
  ["1password token", /ops_ey[A-Za-z0-9+/=]{40,}/],
  ["grafana token", /glc_[A-Za-z0-9+/]{32,}={0,2}/, /glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}/],
  ["vercel token", /vc[pciark]_[A-Za-z0-9]{20,}/],
  ["databricks token", /dapi[A-Fa-f0-9]{32}(?:-[0-9])?(?![0-9A-Za-z])/],
  [
    "api key",
    /(?:lin_api|lin_oauth|ntn|figd|gsk|r8|rubygems|dckr_pat|pplx|atlasv1)[_.-][A-Za-z0-9_-]{20,}/,
    /(?:tskey|pul|xai|nvapi)-[A-Za-z0-9-]{20,}/,
    /ATATT3[A-Za-z0-9_=-]{40,}/,
  ],
  ["age key", /AGE-SECRET-KEY-1[0-9A-Z]{40,}/],
  ["telegram token", /[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])/],
  // Encrypted ones have five parts.
  ["json web token", /eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*){0,3}/],
]
const SHAPE = new RegExp(
  `(?<![A-Za-z0-9])(?:${SHAPES.flatMap(([, ...patterns]) => patterns.map(({ source }) => source)).join("|")})`,
  "g",
)
const KINDS = SHAPES.map(
  ([kind, ...patterns]) => [kind, new RegExp(`^(?:${patterns.map(({ source }) => source).join("|")})`)] as const,
)

/** `sk-…` is also how many style sheets begin their class names; a key has digits. */
const SK = /(?<![A-Za-z0-9-])sk-[A-Za-z0-9_-]{20,}/g
const SK_KINDS: Record<string, string> = { "sk-ant-": "anthropic key", "sk-or-v": "api key" }

export const SHAPE_KINDS: readonly string[] = [...SHAPES.map(([kind]) => kind), "anthropic key", "openai key"]

export function shapes(text: string): Found[] {
  const found: Found[] = []
  for (const { start, end, whole } of matches(text, SHAPE)) found.push({ start, end, kind: kindOf(whole) })
  for (const { start, end, whole } of matches(text, SK)) {
    if (/\d/.test(whole)) found.push({ start, end, kind: SK_KINDS[whole.slice(0, 7)] ?? "openai key" })
  }
  return found
}

const kindOf = (token: string): string => KINDS.find(([, pattern]) => pattern.test(token))?.[0] ?? "api key"
