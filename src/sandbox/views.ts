/**
 * The views.* methods: modals on a trigger, their stack, and the home. https://docs.slack.dev/reference/methods/views.open
 */
import { randomBytes } from "node:crypto"
import { z } from "zod"
import { type Args, fail, type Failure, faulty, json, type Result, word } from "./content.ts"
import { LIMITS } from "./limits.ts"
import { wireView } from "./payloads.ts"
import type { Site } from "./site.ts"
import { type CheckedView, checkView } from "./validate.ts"
import type { View, Workspace } from "./workspace.ts"

type Read = { ok: true; view: CheckedView } | Failure

/** Checks a view that came as a value, be it from a call or from an ack. */
export function readView(value: unknown, type: View["type"]): Read {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return fail("invalid_arguments")
  if (Buffer.byteLength(JSON.stringify(value)) > LIMITS.viewBytes) return fail("view_too_large")
  const checked = checkView(value)
  if (!checked.ok) return faulty("invalid_arguments", checked.faults)
  return checked.value.type === type ? { ok: true, view: checked.value } : fail("invalid_arguments")
}

function given(args: Args, type: View["type"]): Read {
  const view = json(args, "view")
  return view && !("broken" in view) ? readView(view.value, type) : fail("invalid_arguments")
}

/** The stored view that a checked one becomes: a new one, or with `old` its next version. */
function build(workspace: Workspace, user: string, view: CheckedView, old?: View): View {
  const id = old?.id ?? workspace.nextId("V0")
  return {
    notify_on_close: false,
    clear_on_close: false,
    ...view,
    id,
    user,
    hash: `${Math.floor(workspace.now() / 1000)}.${randomBytes(4).toString("hex")}`,
    root_view_id: old?.root_view_id ?? id,
    ...(old?.previous_view_id === undefined ? {} : { previous_view_id: old.previous_view_id }),
  }
}

/** An external_id is one view's alone. */
function taken(workspace: Workspace, external_id: string, but?: string): boolean {
  return external_id !== "" && workspace.allViews().some((it) => it.external_id === external_id && it.id !== but)
}

const shown = (workspace: Workspace, view: View): Result => ({ ok: true, view: wireView(workspace, view) })

/** Puts a new modal on top of a person's stack. */
export function stack(workspace: Workspace, user: string, view: CheckedView): View | Failure {
  const open = workspace.views(user)
  const below = open.at(-1)
  if (open.length >= LIMITS.viewStack) return fail("push_limit_reached")
  if (taken(workspace, view.external_id)) return fail("duplicate_external_id")
  const built = build(workspace, user, view)
  const pushed = below ? { ...built, root_view_id: below.root_view_id, previous_view_id: below.id } : built
  workspace.setViews(user, [...open, pushed])
  return pushed
}

/** Puts a newer version of a modal in its place. */
export function renew(workspace: Workspace, old: View, view: CheckedView): View | Failure {
  if (taken(workspace, view.external_id, old.id)) return fail("duplicate_external_id")
  const built = build(workspace, old.user, view, old)
  workspace.replaceView(built)
  return built
}

/** views.open and views.push: the arguments are looked at first, so a faulty view leaves the trigger usable. */
function onTrigger(site: Site, args: Args, push: boolean): Result {
  const { workspace, handles } = site
  const read = given(args, "modal")
  if (!read.ok) return read
  const trigger = handles.useTrigger(word(args, "trigger_id") ?? "")
  if ("error" in trigger) return fail(trigger.error)
  if (push && workspace.views(trigger.user).length === 0) return fail("not_found")
  if (!push) workspace.setViews(trigger.user, [])
  const view = stack(workspace, trigger.user, read.view)
  return "ok" in view ? view : shown(workspace, view)
}

export const open = (site: Site, args: Args): Result => onTrigger(site, args, false)
export const push = (site: Site, args: Args): Result => onTrigger(site, args, true)

export function update({ workspace }: Site, args: Args): Result {
  const id = word(args, "view_id")
  const external = word(args, "external_id")
  const old = workspace.allViews().find((it) => (id === undefined ? it.external_id === external : it.id === id))
  if (!old || (id ?? external) === undefined) return fail("not_found")
  const read = given(args, old.type)
  if (!read.ok) return read
  const hash = word(args, "hash")
  if (hash !== undefined && hash !== old.hash) return fail("hash_conflict")
  const view = renew(workspace, old, read.view)
  return "ok" in view ? view : shown(workspace, view)
}

export function publish({ workspace }: Site, args: Args): Result {
  if (!workspace.homeEnabled) return fail("not_enabled")
  const user = word(args, "user_id") ?? ""
  if (!workspace.people.has(user)) return fail("invalid_arguments")
  const read = given(args, "home")
  if (!read.ok) return read
  const old = workspace.home(user)
  const hash = word(args, "hash")
  if (hash !== undefined && old && hash !== old.hash) return fail("hash_conflict")
  if (taken(workspace, read.view.external_id, old?.id)) return fail("duplicate_external_id")
  const view = build(workspace, user, read.view, old)
  workspace.replaceView(view)
  return shown(workspace, view)
}

/** What a person sees of the ack of their form: `error` when the app's own answer is refused. */
export interface Submitted {
  response?: { response_action: string; errors?: Record<string, string> }
  error?: string
}

const ack = z.object({
  response_action: z.enum(["errors", "update", "push", "clear"]).optional(),
  errors: z.record(z.string(), z.string()).optional(),
  view: z.unknown().optional(),
})

/** Carries out the `response_action` of a form's ack; without one the modal closes. */
export function submitted(workspace: Workspace, view_id: string, payload: unknown): Submitted {
  const view = workspace.view(view_id)
  if (!view) return {}
  const { success, data } = ack.safeParse(payload ?? {})
  if (!success) return { error: "invalid_response_action" }
  const { response_action = "close", errors = {} } = data
  if (response_action === "update" || response_action === "push") return shownNext(workspace, view, data)
  if (response_action === "errors") return marked(workspace, view, errors)
  const rest = response_action === "clear" ? [] : workspace.views(view.user).filter((it) => it.id !== view_id)
  workspace.setViews(view.user, rest)
  return { response: { response_action } }
}

function marked(workspace: Workspace, view: View, errors: Record<string, string>): Submitted {
  const known = Object.keys(errors).some((id) => view.blocks.some((block) => block.block_id === id))
  if (!known) return { error: "invalid_response_action" }
  workspace.replaceView({ ...view, errors })
  return { response: { response_action: "errors", errors } }
}

function shownNext(workspace: Workspace, view: View, { response_action, view: next }: z.infer<typeof ack>): Submitted {
  const read = readView(next, "modal")
  if (!read.ok) return { error: read.error }
  const done = response_action === "push" ? stack(workspace, view.user, read.view) : renew(workspace, view, read.view)
  return "ok" in done ? { error: done.error } : { response: { response_action: response_action ?? "update" } }
}
