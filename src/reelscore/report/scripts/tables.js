// Tables: grids and square ones, on the screen and on paper.

import { bdi, element, textWidth } from "./elements.js";

const PAPER = 680; // pixels: the breadth of A4 and Letter, less margins
const LARGEST = 10.7; // 8 points
const LONGEST = 16; // em: longer names of rows are broken

const inEm = (text) => textWidth(text, "bold 100px system-ui, 'Segoe UI', Roboto, Arial, sans-serif") / 100;

// On paper there is no scrolling, so the type is as small as the columns need.
export function fitToPaper(table) {
  const heads = [], widths = [];
  [...table.rows].forEach((row) => [...row.cells].forEach((cell, k) => {
    const size = { SMALL: 0.75, SUP: 0.65 };
    const parts = [...cell.childNodes].map((node) => [node.nodeName, inEm(node.textContent) * (size[node.nodeName] ?? 1)]);
    const beside = parts.reduce((sum, [name, width]) => sum + (name === "SMALL" ? 0 : width), 0);
    const below = Math.max(0, ...parts.map(([name, width]) => (name === "SMALL" ? width : 0)));
    const column = row.parentElement === table.tHead ? heads : widths;
    column[k] = Math.max(column[k] ?? 0, Math.min(beside, k ? Infinity : LONGEST), below);
  }));
  const padded = (columns) => columns.reduce((sum, width) => sum + width + 0.8, 0);
  const plain = padded(heads.map((head, k) => Math.max(head + 0.8, widths[k] ?? 0)));
  const turned = table.classList.contains("matrix") || plain * LARGEST > PAPER;
  const needed = turned ? padded(heads.map((head, k) => Math.max(k ? 1.3 : head, widths[k] ?? 0))) : plain;
  table.classList.toggle("turned", turned);
  table.style.setProperty("--on-paper", `${Math.min(LARGEST, PAPER / needed).toFixed(2)}px`);
  return table;
}

export function gridTable(grid) {
  const cell = (each, k) => k < grid.names ? element("th", { scope: "row" }, bdi(each.text))
    : element("td", { class: each.best ? "best" : null }, each.text, each.mark ? element("sup", {}, each.mark) : null,
      each.under ? element("small", {}, each.under) : null,
      each.bar == null ? null : element("span", { class: "share", style: `width:${(6 * each.bar).toFixed(2)}rem` }));
  return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": grid.columns.join(", ") },
    fitToPaper(element("table", {},
      element("thead", {}, element("tr", {}, grid.columns.map((name) => element("th", { scope: "col" }, bdi(name))))),
      element("tbody", {}, grid.rows.map((row) => element("tr", {}, row.map(cell)))))));
}

// A square table with the same names above and beside.
export function matrixTable(caption, names, cell) {
  return fitToPaper(element("table", { class: "matrix", "aria-label": caption },
    element("thead", {}, element("tr", {}, element("td", {}),
      names.map((name) => element("th", { scope: "col" }, element("span", { title: name }, name))))),
    element("tbody", {}, names.map((name, i) => element("tr", {},
      element("th", { scope: "row" }, bdi(name)), names.map((_, j) => cell(i, j)))))));
}

// Blue above nothing, orange below; pale enough for the text on it.
export function shade(value) {
  if (Number.isNaN(value)) return null;
  return `background:rgb(var(--${value < 0 ? "low" : "high"}) / ${(Math.min(1, Math.abs(value)) * 0.42).toFixed(2)})`;
}
