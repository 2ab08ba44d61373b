// Building the page. Whatever comes from a file becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {object} attributes
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export const element = (tag, attributes, ...children) =>
  build(document.createElement(tag), attributes, children);

/**
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {object} attributes
 * @returns {SVGElementTagNameMap[Tag]}
 */
export const drawn = (tag, attributes, ...children) =>
  build(document.createElementNS(SVG, tag), attributes, children);

// A picture; what it shows is said for those who do not see it.
export const picture = (width, height, about, ...children) =>
  drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
                 "aria-label": about }, ...children);

// Names and captions may be in any direction of writing.
export const bdi = (text) => element("bdi", { dir: "auto" }, text);

// A control with its name above it.
let fields = 0;
export function field(name, control, kind = "field") {
  control.id ||= `field-${++fields}`;
  return element("div", { class: kind }, element("label", { for: control.id }, name), control);
}

export function choice(name, options, chosen, changed) {
  const select = element("select", { onchange: () => changed(select.value) },
    options.map(([value, text]) =>
      element("option", { value, selected: String(value) === String(chosen) }, text)));
  return field(name, select);
}

export function section(id, title, ...children) {
  return element("section", { id, "aria-labelledby": `${id}-title` },
    element("h2", { id: `${id}-title` }, title), ...children);
}

// Text with what was searched for marked in it.
export function marked(text, query) {
  if (!query) return [text];
  const parts = [];
  const lower = text.toLowerCase();
  if (lower.length !== text.length) return [text]; // places would not fit
  let from = 0;
  for (let at = lower.indexOf(query); at >= 0; at = lower.indexOf(query, from)) {
    parts.push(text.slice(from, at), element("mark", {}, text.slice(at, at + query.length)));
    from = at + query.length;
  }
  return [...parts, text.slice(from)];
}

export const colour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** @type {CanvasRenderingContext2D} */
let ruler;
export function textWidth(text, font) {
  ruler ??= document.createElement("canvas").getContext("2d");
  ruler.font = font;
  return ruler.measureText(text).width;
}

export const clipped = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
