// A list of any length: only the rows in sight are in the page.

/** @import { PageData } from "./data.js" */
import { bdi, element } from "./elements.js";

const ROW = 58;

export class ItemList {
  /** @param {PageData} report */
  constructor(report, opened) {
    this.report = report;
    this.opened = opened;
    this.items = new Uint32Array(0);
    this.place = -1; // of the chosen item in the list
    this.space = element("div", {});
    this.node = element("div", { class: "list", role: "listbox", tabindex: 0, "aria-label": "Items",
      onscroll: () => this.later(), onkeydown: (event) => this.key(event) }, this.space);
    this.waiting = false;
  }

  // items: numbers in order; describe(item) gives [value, caption].
  show(items, describe) {
    this.items = items;
    this.describe = describe;
    this.space.style.height = `${items.length * ROW}px`;
    this.place = this.items.indexOf(this.chosen ?? -1);
    this.render();
  }

  choose(item, { scroll = true } = {}) {
    this.chosen = item;
    this.place = this.items.indexOf(item);
    if (scroll && this.place >= 0) {
      const top = this.place * ROW, { scrollTop, clientHeight } = this.node;
      if (top < scrollTop || top + ROW > scrollTop + clientHeight) {
        this.node.scrollTop = Math.max(0, top - clientHeight / 2 + ROW / 2);
      }
    }
    this.render();
  }

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.render(); });
  }

  render() {
    const { scrollTop, clientHeight } = this.node;
    const first = Math.max(0, Math.floor(scrollTop / ROW) - 4);
    const last = Math.min(this.items.length, Math.ceil((scrollTop + (clientHeight || 736)) / ROW) + 4);
    const rows = [];
    for (let k = first; k < last; k++) rows.push(this.row(k));
    this.space.replaceChildren(...rows);
    const active = this.place >= first && this.place < last ? `item-${this.place}` : null;
    if (active) this.node.setAttribute("aria-activedescendant", active);
    else this.node.removeAttribute("aria-activedescendant");
  }

  row(k) {
    const item = this.items[k];
    const [value, caption] = this.describe(item);
    return element("div", { class: "row", id: `item-${k}`, role: "option", style: `top:${k * ROW}px`,
      "aria-selected": String(k === this.place), "aria-setsize": this.items.length, "aria-posinset": k + 1,
      onclick: () => this.opened(item) },
      element("div", {}, element("b", {}, bdi(this.report.items[item])), element("span", {}, value)),
      element("p", {}, bdi(caption)));
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.node.clientHeight / ROW) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
                    Home: -Infinity, End: Infinity };
    if (!(event.key in moves) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.move(moves[event.key]);
  }

  move(by) {
    if (!this.items.length) return;
    const wanted = this.place < 0 ? 0 : this.place + by;
    this.opened(this.items[Math.min(this.items.length - 1, Math.max(0, wanted))]);
  }
}
