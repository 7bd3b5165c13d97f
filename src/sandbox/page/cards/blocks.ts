/**
 * Draws blocks as Slack draws them: a pure function of the blocks and their place. No picture is ever fetched: an image
 * shows its alternative text and its address.
 */
import type {
  ActionsBlock,
  Button,
  ContextBlock,
  ImageBlock,
  ImageElement,
  InputBlock,
  KnownBlock,
  SectionBlock,
} from "@slack/types"
import { button, type Child, el } from "../dom.ts"
import { drawPassages } from "../text/draw.ts"
import { readMarkdown } from "../text/markdown.ts"
import { readRich } from "../text/rich.ts"
import { confirmed } from "./confirm.ts"
import { drawInput, type InputElement, SINGLE } from "./inputs.ts"
import type { Block } from "../wire.ts"
import { drawLabel, drawText, type Place } from "./place.ts"

let drawn = 0

const unknown = (type: string): HTMLElement =>
  el("p", { class: "unsupported" }, `Slack would show a “${type}” here; this page does not draw it.`)

function drawButton(element: Button, block: string, place: Place): HTMLElement {
  const action_id = element.action_id ?? ""
  const attributes = {
    class: element.style === undefined ? "btn" : `btn btn-${element.style}`,
    "aria-label": element.accessibility_label,
    title: element.url,
    "data-control": `${block}/${action_id}`,
  }
  const press = async (): Promise<void> => {
    if (node.getAttribute("aria-busy") === "true") return
    if (element.confirm !== undefined && !(await confirmed(element.confirm, place.names))) return
    node.setAttribute("aria-busy", "true")
    const value = element.value === undefined ? {} : { value: element.value }
    await place.press({ action_id, block_id: block, ...value }, node)
    node.removeAttribute("aria-busy")
  }
  const node = button(drawLabel(element.text, place.names), attributes, () => void press())
  return node
}

function image(element: ImageElement | ImageBlock): HTMLElement {
  const address = "image_url" in element ? element.image_url : "a Slack file"
  return el(
    "span",
    { class: "image", role: "img", "aria-label": element.alt_text },
    element.alt_text,
    el("small", {}, address),
  )
}

interface Interactive {
  type: string
  action_id?: string
}

function drawElement(element: Interactive, block: string, place: Place): HTMLElement {
  if (element.type === "button") return drawButton(element as Button, block, place)
  if (element.type === "image") return image(element as unknown as ImageElement)
  const input = drawInput(element as InputElement, {
    place,
    block,
    id: `control-${(drawn += 1)}`,
    name: placeholder(element),
    describedBy: undefined,
    optional: true,
    changed: (value, from) => {
      const chosen = value === undefined ? {} : { value }
      void place.press({ action_id: element.action_id ?? "", block_id: block, ...chosen }, from)
    },
  })
  return input ?? unknown(element.type)
}

const placeholder = (element: object): string | undefined =>
  "placeholder" in element ? (element as { placeholder?: { text: string } }).placeholder?.text : undefined

function section(block: SectionBlock, place: Place): HTMLElement {
  const fields = block.fields?.map((text) => drawText(text, place.names)) ?? []
  return el(
    "div",
    { class: "section" },
    el(
      "div",
      { class: "section-body" },
      block.text && drawText(block.text, place.names),
      fields.length > 0 && el("div", { class: "fields" }, ...fields),
    ),
    block.accessory && el("div", { class: "accessory" }, drawElement(block.accessory, block.block_id ?? "", place)),
  )
}

const context = (block: ContextBlock, place: Place): HTMLElement =>
  el(
    "div",
    { class: "context" },
    ...block.elements.map((element) => (element.type === "image" ? image(element) : drawText(element, place.names))),
  )

const actions = (block: ActionsBlock, place: Place): HTMLElement =>
  el("div", { class: "actions" }, ...block.elements.map((element) => drawElement(element, block.block_id ?? "", place)))

function control(block: InputBlock, id: string, place: Place): HTMLElement {
  const blockId = block.block_id ?? ""
  const error = place.errors[blockId]
  const element = block.element as InputElement
  const node = drawInput(element, {
    place,
    block: blockId,
    id,
    name: SINGLE.includes(element.type) ? undefined : block.label.text,
    describedBy: error === undefined && block.hint === undefined ? undefined : `${id}-says`,
    optional: block.optional === true,
    changed: (value, from) => {
      if (block.dispatch_action !== true) return
      const chosen = value === undefined ? {} : { value }
      void place.press({ action_id: element.action_id ?? "", block_id: blockId, ...chosen }, from)
    },
  })
  if (error !== undefined) node?.setAttribute("aria-invalid", "true")
  return node ?? unknown(element.type)
}

function input(block: InputBlock, place: Place): HTMLElement {
  const id = `control-${(drawn += 1)}`
  const label = [
    ...drawLabel(block.label, place.names),
    block.optional === true && el("span", { class: "optional" }, " (optional)"),
  ]
  return el(
    "div",
    { class: "input-block", "data-block": block.block_id },
    SINGLE.includes(block.element.type)
      ? el("label", { for: id, class: "label" }, ...label)
      : el("div", { class: "label" }, ...label),
    control(block, id, place),
    says(id, place.errors[block.block_id ?? ""], block.hint && drawText(block.hint, place.names)),
  )
}

function says(id: string, error: string | undefined, hint: Child): Child {
  if (error === undefined && !hint) return undefined
  return el(
    "div",
    { id: `${id}-says`, class: "says" },
    error !== undefined && el("p", { class: "error", role: "alert" }, error),
    hint,
  )
}

type Drawing<B> = (block: B, place: Place) => HTMLElement

const drawings: { [K in KnownBlock["type"]]?: Drawing<Extract<KnownBlock, { type: K }>> } = {
  header: ({ text }, { names }) => el("h3", { class: "header", dir: "auto" }, ...drawLabel(text, names)),
  section,
  context,
  divider: () => el("hr"),
  rich_text: (block, { names }) => drawPassages(readRich(block), names),
  markdown: ({ text }, { names }) => drawPassages(readMarkdown(text), names),
  actions,
  input,
  image: (block) => image(block),
}

function drawBlock(block: Block, place: Place): HTMLElement {
  const draw = Object.hasOwn(drawings, block.type) ? drawings[block.type as KnownBlock["type"]] : undefined
  return (draw as Drawing<Block> | undefined)?.(block, place) ?? unknown(block.type)
}

export const drawBlocks = (blocks: Block[], place: Place): HTMLElement =>
  el("div", { class: "blocks" }, ...blocks.map((block) => drawBlock(block, place)))
