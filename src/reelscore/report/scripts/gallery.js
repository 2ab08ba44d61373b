// The gallery: clips with what every system says about them, a page at a time.

/** @import { PageData } from "./data.js" */
import { bdi, element, marked } from "./elements.js";
import { areBest, COUNT, formatOf } from "./numbers.js";

const PAGE = 24; // clips of a page

export class Gallery {
  /** @param {PageData} report */
  constructor(report, opened) {
    this.report = report;
    this.opened = opened;
    this.items = [];
    this.first = 0; // place of the page's first item
    this.cards = element("ol", { class: "gallery" });
    this.pagers = [element("div", { class: "pager" }), element("div", { class: "pager" })];
    this.play = element("button", { type: "button", "aria-pressed": "false", onclick: () => this.toggle() }, "Play all previews");
    this.node = element("div", {}, this.pagers[0], this.cards, this.pagers[1]);
  }

  toggle() {
    const playing = this.cards.classList.toggle("playing");
    this.play.setAttribute("aria-pressed", String(playing));
    this.play.textContent = playing ? "Stop all previews" : "Play all previews";
  }

  // items: numbers in order; shown: metric, system, query, and value(item), what they are sorted by.
  show(items, shown) {
    this.items = items;
    this.shown = shown;
    this.turn(0);
  }

  turn(first) {
    this.first = Math.max(0, Math.min(first, (Math.ceil(this.items.length / PAGE) - 1) * PAGE));
    const items = [...this.items.slice(this.first, this.first + PAGE)];
    const { metric } = this.shown, { report } = this;
    const systems = report.systems.length;
    this.format = report.metrics.length ? formatOf(report.scores[metric]) : null;
    this.cards.replaceChildren(...items.map((item) => this.card(item, systems)));
    this.pagers.forEach((pager, k) => pager.replaceChildren(...this.pager(k)));
  }

  pager(k) {
    const last = Math.max(1, Math.ceil(this.items.length / PAGE)), page = this.first / PAGE;
    const button = (name, to, sign) => element("button", { type: "button", "aria-label": name, disabled: to < 0 || to >= last,
      onclick: () => {
        this.turn(to * PAGE);
        if (k) this.node.scrollIntoView();
        const buttons = [...this.pagers[k].querySelectorAll("button")];
        (buttons.find((each) => each.getAttribute("aria-label") === name && !each.disabled) ?? buttons.find((each) => !each.disabled))?.focus();
      } }, sign);
    return [button("Previous page", page - 1, "←"), element("span", {}, `Page ${COUNT.format(page + 1)} of ${COUNT.format(last)}`),
      button("Next page", page + 1, "→"), k === 0 && this.report.previews ? this.play : null].filter(Boolean);
  }

  card(item, systems) {
    const { report } = this, { query, system, metric, value } = this.shown;
    const texts = report.column("texts"), first = report.textOffsets[item];
    const references = texts.slice(first + systems, report.textOffsets[item + 1]);
    const scores = report.systems.map((_, k) => report.metrics.length ? report.score(metric, k, item) : NaN);
    const best = areBest(report.metrics[metric], scores, report.bounds);
    const said = report.systems.flatMap((name, k) => system >= 0 && k !== system ? [] : element("div", {},
      element("dt", {}, bdi(name), this.format ? element("span", { class: best[k] ? "best" : null }, this.format(scores[k])) : null),
      element("dd", {}, element("bdi", { dir: "auto" }, marked(texts[first + k] || "–", query)))));
    const list = (all) => all.map((text) => element("li", {}, element("bdi", { dir: "auto" }, marked(text, query))));
    const name = report.items[item];
    return element("li", { class: "card", "data-item": item },
      element("button", { type: "button", "aria-label": `Open ${name}`, onclick: () => this.opened(item) },
        stripOf(report, item) ?? element("span", { class: "strip none" }, "no preview")),
      element("h3", {}, bdi(name), value ? element("span", { class: "dim" }, value(item)) : null),
      element("dl", {}, said),
      references.length ? element("details", { class: "refs", open: references.length === 1 || Boolean(query) },
        element("summary", {}, references.length === 1 ? "Reference" : `${references.length} references`),
        element("ol", { class: "references" }, list(references))) : null);
  }

  // The card of an item gets the focus, on whatever page it is.
  focus(item) {
    const place = this.items.indexOf(item);
    if (place < 0) return;
    if (place < this.first || place >= this.first + PAGE) this.turn(Math.floor(place / PAGE) * PAGE);
    /** @type {HTMLElement} */
    const button = this.cards.querySelector(`[data-item="${item}"] button`);
    button.focus();
  }

  move(by) {
    const card = /** @type {HTMLElement} */ (document.activeElement?.closest(".card"));
    const place = card ? this.items.indexOf(Number(card.dataset.item)) + by : this.first;
    if (this.items.length) this.focus(this.items[Math.max(0, Math.min(this.items.length - 1, place))]);
  }
}

// Where the picture of an item is; the frames of a clip lie side by side in it.
/** @param {PageData} report */
function pictureOf(report, item) {
  if (!report.column("preview_frames")?.[item]) return null;
  const { folder } = report.previews;
  if (folder) return `${encodeURIComponent(folder)}/${String(item).padStart(6, "0")}.webp`;
  report.pictures ??= document.getElementById("pictures").textContent.split("\n");
  return `data:image/webp;base64,${report.pictures[item]}`;
}

/** @param {PageData} report */
const sizesOf = (report, item) => ["frames", "width", "height"].map((name) => report.column(`preview_${name}`)[item]);

// One frame of a clip; the others follow when it is played.
/** @param {PageData} report */
function stripOf(report, item) {
  const address = pictureOf(report, item);
  if (!address) return null;
  const [frames, width, height] = sizesOf(report, item);
  const still = frames > 1 ? 100 * Math.floor(frames / 2) / (frames - 1) : 0;
  return element("span", { class: frames > 1 ? "strip" : "strip single", style: `background-image:url("${address}");background-size:${frames * 100}% 100%;` +
    `--still:${still}%;--frames:${frames};--shape:${width / height}` });
}

// All frames of a clip side by side.
/** @param {PageData} report */
export function filmstrip(report, item) {
  const address = pictureOf(report, item);
  if (!address) return null;
  const [frames, width, height] = sizesOf(report, item);
  return element("div", { class: "filmstrip", role: "img", "aria-label": `${frames} frames of ${report.items[item]}, in their order`,
    style: `--picture:url("${address}");--frames:${frames};aspect-ratio:${frames * width}/${height};max-width:${frames * width}px` });
}
