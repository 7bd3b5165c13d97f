/**
 * The demo's model: it reads the conversation and answers by a few fixed rules, so that the sandbox needs no account
 * and no network. Speaks the AI SDK's provider specification like any other model; knows nothing of runs or Slack.
 */
import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3GenerateResult,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3StreamPart,
} from "@ai-sdk/provider"
import { EXAMPLES } from "./examples.ts"

const SERVICES = ["web", "api", "worker"]

interface Wish {
  tool: string
  args: Record<string, unknown>
}

/** None at all when one of them names no service of ours: half of what was asked is not what was asked. */
function wishesOf(text: string): Wish[] {
  const wishes = text
    .toLowerCase()
    .split(/\band\b|,|;/u)
    .flatMap((clause): (Wish | undefined)[] => {
      const deed = deedOf(clause)
      const service = SERVICES.find((name) => new RegExp(`(?<![\\w-])${name}(?![\\w-])`, "u").test(clause))
      return deed ? [service === undefined ? undefined : { ...deed, args: { service, ...deed.args } }] : []
    })
  return wishes.includes(undefined) ? [] : wishes.filter((wish) => wish !== undefined)
}

/** What a clause asks for, of whatever service; the first that it has the words of. */
const DEEDS: { words: RegExp; wish: (clause: string) => Wish | undefined }[] = [
  { words: /\brestart|\breboot|\bbounce/u, wish: () => ({ tool: "restart_service", args: {} }) },
  {
    words: /\bscale|\breplica/u,
    wish(clause) {
      const count = /\b(\d{1,3})\b/u.exec(clause)?.[1]
      return count === undefined ? undefined : { tool: "scale_service", args: { replicas: Number(count) } }
    },
  },
  {
    words: /\bdeploy|\bship|\brelease/u,
    wish(clause) {
      const version = /\b(v?\d+(?:\.\d+)+(?:-[a-z\d.]+)?)\b/u.exec(clause)?.[1]
      const env = /\bprod/u.test(clause) ? "prod" : "staging"
      return version === undefined ? undefined : { tool: "deploy", args: { version, env } }
    },
  },
  { words: /\bmaintenance\b/u, wish: () => ({ tool: "plan_maintenance", args: {} }) },
  { words: /\bpage\b|\bon[ -]call\b/u, wish: () => ({ tool: "page_oncall", args: {} }) },
  { words: /\bhand\b.*\bover\b|\bnext shift\b/u, wish: () => ({ tool: "desk_hand_over", args: {} }) },
  { words: /\bhow\b|\bstatus\b|\bcheck\b|\bhealth/u, wish: () => ({ tool: "get_status", args: {} }) },
]

function deedOf(clause: string): Wish | undefined {
  for (const { words, wish } of DEEDS) {
    const found = words.test(clause) ? wish(clause) : undefined
    if (found) return found
  }
  return undefined
}

/** What somebody wrote; what they attached comes behind it. */
function textOf({ content }: LanguageModelV3Message): string {
  const [first] = typeof content === "string" ? [{ type: "text" as const, text: content }] : content
  return first?.type === "text" ? first.text : ""
}

/** The names of the files that came with it. */
function filesOf({ role, content }: LanguageModelV3Message): string[] {
  if (role !== "user") return []
  return content.slice(1).flatMap((part): string[] => {
    if (part.type === "file") return [part.filename ?? part.mediaType]
    const [, name] = /^The attached file (".*?"):\n/u.exec(part.text) ?? []
    return name === undefined ? [] : [String(JSON.parse(name))]
  })
}

interface Seen {
  output: string
  isError: boolean
}

/** The results since the last words of a person, in call order. */
function resultsOf(messages: readonly LanguageModelV3Message[]): Seen[] {
  return messages.flatMap((message) => {
    if (message.role !== "tool") return []
    return message.content.flatMap((part): Seen[] => {
      if (part.type !== "tool-result") return []
      const { output } = part
      if (output.type !== "text" && output.type !== "error-text") return []
      return [{ output: output.value, isError: output.type === "error-text" }]
    })
  })
}

function callsOf(wishes: readonly Wish[], turn: number): LanguageModelV3Content[] {
  return wishes.map(({ tool, args }, index) => ({
    type: "tool-call",
    toolCallId: `demo_${turn}_${index + 1}`,
    toolName: tool,
    input: JSON.stringify(args),
  }))
}

/** What the result of a call begins with whose args people changed. */
const CHANGED = /^A person changed the arguments .*? Executed with: (.*)\n\n/u

function reportOf(results: readonly Seen[]): string {
  const lines = results.map(({ output, isError }) => {
    const [first = "", note] = output.replace(CHANGED, "With changed arguments ($1): ").split("\n")
    if (!isError) return `- ${first}`
    const declined = /^declined\/expired: (.*)$/u.exec(first)
    if (!declined) return `- Not done: ${first}`
    return `- **Not done**: ${declined[1] ?? ""}${note === undefined ? "" : ` (${note})`}`
  })
  const refused = results.some((result) => result.isError)
  return `${refused ? "Here is where things stand:" : "Here is what happened:"}\n\n${lines.join("\n")}`
}

/** What people said last, one after another. */
function saidLast(prompt: LanguageModelV3Prompt, last: number): { words: string; files: string[] } {
  const first = prompt.slice(0, last + 1).findLastIndex((message) => message.role !== "user")
  const said = prompt.slice(first + 1, last + 1)
  return { words: said.map(textOf).join(", "), files: said.flatMap(filesOf) }
}

/** That what was attached arrived; the demo looks at nothing of it. */
function withFiles(files: readonly string[], content: LanguageModelV3Content[]): LanguageModelV3Content[] {
  if (files.length === 0) return content
  const said = `You gave me ${files.map((name) => `“${name}”`).join(", ")}. I am no real model, so I can't look into files.`
  const [first, ...rest] = content
  return first?.type === "text" ? [{ ...first, text: `${said}\n\n${first.text}` }, ...rest] : content
}

/** A single wish to change something: its status is looked at first. */
const looksFirst = (wishes: readonly Wish[]): boolean => wishes.length === 1 && wishes[0]?.tool !== "get_status"

function answerTo({ prompt, tools }: LanguageModelV3CallOptions): LanguageModelV3Content[] {
  const last = prompt.findLastIndex((message) => message.role === "user")
  const since = prompt.slice(last + 1)
  const { words, files } = saidLast(prompt, last)
  const turn = since.filter((message) => message.role === "assistant").length
  const results = resultsOf(since)
  const content = step(words, { turn, results, untold: untoldIn(prompt, last), mine: tools?.map(({ name }) => name) })
  return content.some(({ type }) => type === "tool-call") ? content : withFiles(files, content)
}

/** What came of deeds before people said something, and is told in no answer yet: they spoke while a card waited. */
function untoldIn(prompt: LanguageModelV3Prompt, last: number): Seen[] {
  const before = prompt.slice(0, last)
  const answered = before.findLastIndex(({ role, content }) => role === "assistant" && !content.some(isCall))
  const deeds = before.slice(answered + 1).flatMap((message): LanguageModelV3Message[] => {
    if (message.role !== "tool") return []
    const content = message.content.filter((part) => part.type === "tool-result" && part.toolName !== "get_status")
    return [{ ...message, content }]
  })
  return resultsOf(deeds)
}

const isCall = ({ type }: { type: string }): boolean => type === "tool-call"

interface Around {
  /** How many answers it has given since. */
  turn: number
  results: readonly Seen[]
  untold: readonly Seen[]
  /** The names of the tools that it has; undefined: all. */
  mine: readonly string[] | undefined
}

function step(asked: string, around: Around): LanguageModelV3Content[] {
  const { turn, results, untold, mine } = around
  const wishes = wishesOf(asked)
  const [first] = wishes
  const told = untold.length === 0 ? "" : `${reportOf(untold)}\n\n`
  if (!first) return [{ type: "text", text: told + (/\bexplain/u.test(asked) ? EXPLAINED : helpWith(mine)) }]
  const foreign = wishes.filter(({ tool }) => mine?.includes(tool) === false)
  if (foreign.length > 0) return [{ type: "text", text: `${told}${notMine(foreign)}\n\n${helpWith(mine)}` }]
  if (looksFirst(wishes)) return oneStepAtATime(first, around)
  if (turn > 0) return [{ type: "text", text: reportOf([...untold, ...results]) }]
  const asking = wishes.some((wish) => wish.tool !== "get_status")
  const text = asking ? "These steps don't depend on each other, so I ask for all of them at once." : "Let me look."
  return [{ type: "text", text }, ...callsOf(wishes, turn)]
}

function oneStepAtATime(wish: Wish, { turn, results, untold }: Around): LanguageModelV3Content[] {
  if (turn > 1) return [{ type: "text", text: reportOf([...untold, ...results.slice(1)]) }]
  if (turn === 1) return [{ type: "text", text: whyOf(wish, results) }, ...callsOf([wish], turn)]
  const service = wish.args["service"]
  const text = `Before I touch anything I look at how ${String(service)} is doing.`
  return [{ type: "text", text }, ...callsOf([{ tool: "get_status", args: { service } }], turn)]
}

const notMine = (wishes: readonly Wish[]): string =>
  `That is not mine to do: I don't have ${wishes.map(({ tool }) => `\`${tool}\``).join(" and ")}.`

/** What it may be asked for, as far as its tools go. */
function helpWith(mine: readonly string[] | undefined): string {
  const mayDo = EXAMPLES.filter((example) => wishesOf(example).every(({ tool }) => mine?.includes(tool) !== false))
  return `I look after three services: **web**, **api** and **worker**. Try one of these:

${mayDo.map((example) => `- \`${example}\``).join("\n")}`
}

/** Long enough to be watched while it is written. */
const EXPLAINED = `## How I work

I read what you ask for and look at the services first. **Looking changes nothing**, so I do it at once: how many replicas run, which version they have, what they answer. What I read there stands in this run for everybody who decides about it.

When something is to be changed, I don't do it. I say what I would run, with every argument, and wait:

1. a card goes to this thread, with what it is for and until when it can be answered;
2. whoever may decide presses *Approve* or *Decline*, here or in their app's home;
3. nobody's silence is a yes: when the time is over, it is a no, and I am told so.

Meanwhile I cost nothing. The process that works for me may be restarted or killed; what was asked stays asked, and what was approved is done once. If it is cut off in the middle of something, a card asks a person what is true: that it was done, that it failed, or that it shall be run again. I never guess.

What came of it goes back to me, and I report here. Everything that was asked, decided and done stands in the audit channel, each line chained to the one before, so that nobody can take a line out without that being seen.`

function whyOf(wish: Wish, seen: readonly Seen[]): string {
  const status = seen.at(-1)?.output ?? ""
  return `The status says: ${status}. ${WHY[wish.tool] ?? "I do as you asked."}`
}

const WHY: Record<string, string> = {
  restart_service: "A rolling restart is the usual remedy and takes about two seconds; one replica is down at a time.",
  scale_service: "I change the number of replicas as you asked.",
  deploy: "Nothing speaks against putting the new version there.",
  plan_maintenance: "I need to know when it shall be, and how long it takes.",
  page_oncall: "Somebody should look at it.",
  desk_hand_over: "I need to know who takes it over.",
}

/** A model of the sandbox. Its usage is a rough count of characters by four. */
export function demoModel(): LanguageModelV3 {
  return {
    specificationVersion: "v3",
    provider: "demo",
    modelId: "demo",
    supportedUrls: {},
    doGenerate: async (options) => generated(options),
    doStream: async (options) => ({ stream: streamOf(spoken(generated(options), options)) }),
  }
}

function streamOf<T>(parts: AsyncGenerator<T, void, undefined>): ReadableStream<T> {
  return new ReadableStream<T>({
    async pull(controller) {
      const { value, done } = await parts.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await parts.return()
    },
  })
}

function generated(options: LanguageModelV3CallOptions): LanguageModelV3GenerateResult {
  const { prompt } = options
  const content = answerTo(options)
  const calls = content.some((part) => part.type === "tool-call")
  const input = Math.ceil(JSON.stringify(prompt).length / 4)
  const output = Math.ceil(JSON.stringify(content).length / 4)
  return {
    content,
    finishReason: { unified: calls ? "tool-calls" : "stop", raw: undefined },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: output, text: output, reasoning: 0 },
    },
    warnings: [],
  }
}

/** Short texts come at once; of a long one a few words at a time, as people know it. */
const LONG = 800
const A_FEW_WORDS = /(?:\S+\s*){1,4}/gu
const BETWEEN = 250

async function* spoken(
  { content, finishReason, usage }: LanguageModelV3GenerateResult,
  { abortSignal }: LanguageModelV3CallOptions,
): AsyncGenerator<LanguageModelV3StreamPart, void, undefined> {
  yield { type: "stream-start", warnings: [] }
  for (const [index, part] of content.entries()) {
    if (part.type !== "text") {
      if (part.type === "tool-call") yield part
      continue
    }
    const id = String(index)
    yield { type: "text-start", id }
    for (const delta of part.text.length < LONG ? [part.text] : (part.text.match(A_FEW_WORDS) ?? [])) {
      if (part.text.length >= LONG) await new Promise((resolve) => setTimeout(resolve, BETWEEN))
      abortSignal?.throwIfAborted()
      yield { type: "text-delta", id, delta }
    }
    yield { type: "text-end", id }
  }
  yield { type: "finish", finishReason, usage }
}
