/**
 * Makes and keeps elements. There is no way in here from text to markup: strings become text nodes or attributes, and
 * addresses pass `webAddress` before they become links.
 */

export type Child = Node | string | undefined | false
type Value = string | number | boolean | undefined
export type Attributes = Record<string, Value>
export type Listeners = { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void }

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  setAttributes(element, attributes)
  element.append(...children.filter((child) => child !== undefined && child !== false))
  return element
}

export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) element.removeAttribute(name)
    else element.setAttribute(name, value === true ? "" : String(value))
  }
}

export function on<E extends HTMLElement>(element: E, listeners: Listeners): E {
  for (const [name, listener] of Object.entries(listeners)) {
    element.addEventListener(name, listener as (event: Event) => void)
  }
  return element
}

export function button(label: Child | Child[], attributes: Attributes, press: (event: MouseEvent) => void) {
  return on(el("button", { type: "button", ...attributes }, ...[label].flat()), { click: press })
}

const paths = {
  hash: "M9 3 7 21M17 3l-2 18M4 8.5h17M3 15.5h17",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  home: "M4 11.5 12 4l8 7.5M6.5 9.5V20h11V9.5M10 20v-5h4v5",
  bell: "M6 17h12l-1.5-2.5V10a4.5 4.5 0 0 0-9 0v4.5zM10.2 20h3.6",
  bolt: "M13 3 5 14h6l-1 7 8-11h-6z",
  close: "M6 6l12 12M18 6 6 18",
  reply: "M5 5h14v10h-7l-4 4v-4H5zM8.5 8.7h7M8.5 11.7h4",
  eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12ZM12 9.3a2.7 2.7 0 1 0 0 5.4 2.7 2.7 0 0 0 0-5.4",
  menu: "M4 7h16M4 12h16M4 17h16",
  send: "M4 12 3 4l18 8-18 8 1-8Zm0 0h8",
  clip: "M20 11.500 12.300 19.200a5 5 0 0 1-7.100-7.100l8.100-8.100a3.300 3.300 0 0 1 4.700 4.700l-8.100 8.100a1.700 1.700 0 0 1-2.400-2.400l7.400-7.400",
  file: "M7 3h7l4 4v14H7zM14 3v4h4",
  warning: "M12 4 2.8 20h18.4zM12 10v4.5M12 17v.6",
  stamp: "M12 3l7.5 3v6c0 4.5-3 7.500-7.500 9-4.500-1.500-7.500-4.500-7.500-9V6zM8.300 12l2.700 2.700 4.800-5.200",
  braces:
    "M9 4H7.500C6 4 6 5 6 6.500V10l-2 2 2 2v3.500C6 19 6 20 7.500 20H9M15 4h1.500C18 4 18 5 18 6.500V10l2 2-2 2v3.500c0 1.500 0 2.500-1.500 2.500H15",
}

/** A line drawing in the text's colour, hidden from screen readers: its button or heading carries the name. */
export function icon(name: keyof typeof paths): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  setAttributes(svg, { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true", focusable: "false" })
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path")
  path.setAttribute("d", paths[name])
  svg.append(path)
  return svg
}

/** The address a link may go to, written so that no look-alike letter hides in the host; undefined for any other. */
export function webAddress(url: string): string | undefined {
  try {
    const { protocol, href } = new URL(url)
    return ["http:", "https:", "mailto:"].includes(protocol) ? href : undefined
  } catch {
    return undefined
  }
}

export interface Kept {
  key: string
  /** Another version is built anew; the same one stays as it is, with focus, selection and what was typed. */
  version: string
  build: (before: HTMLElement | undefined) => HTMLElement
}

type Children = Map<string, { version: string; node: HTMLElement }>
const kept = new WeakMap<Element, Children>()

/** Makes the children of `parent` be those of `items`, touching only the ones that changed. */
export function fill(parent: Element, items: Kept[]): void {
  const before: Children = kept.get(parent) ?? new Map()
  const after: Children = new Map()
  for (const { key, version, build } of items) {
    const old = before.get(key)
    const node = old?.version === version ? old.node : build(old?.node)
    if (old !== undefined && old.node !== node) replace(old.node, node)
    after.set(key, { version, node })
  }
  kept.set(parent, after)
  arrange(
    parent,
    [...after.values()].map(({ node }) => node),
  )
}

/** Moves nothing that is in its place already: an element that is moved loses its focus. */
function arrange(parent: Element, nodes: HTMLElement[]): void {
  const wanted = new Set<Element>(nodes)
  for (const child of Array.from(parent.children)) if (!wanted.has(child)) child.remove()
  let at = parent.firstChild
  for (const node of nodes) {
    if (node === at) at = at.nextSibling
    else parent.insertBefore(node, at)
  }
}

/** Puts `node` in the place of `old`; focus goes to the same control, or to the whole when that is gone. */
function replace(old: HTMLElement, node: HTMLElement): void {
  const focused = old.contains(document.activeElement) ? document.activeElement : null
  // What only changes does not arrive again.
  node.classList.add("changed")
  old.replaceWith(node)
  if (focused === null) return
  const name = focused.getAttribute("data-control")
  const same = [...node.querySelectorAll<HTMLElement>("[data-control]")].find((one) => one.dataset["control"] === name)
  if (name !== null && same !== undefined) same.focus()
  else node.focus({ preventScroll: true })
}
