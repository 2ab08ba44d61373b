// Tables on paper: there is no scrolling, so the type is as small as the columns need.

const PAPER = 680; // pixels: the breadth of A4 and Letter, less margins
const LARGEST = 10.7; // 8 points
const LONGEST = 16; // em: longer names of rows are broken

const inEm = (text) => textWidth(text, "bold 100px system-ui, 'Segoe UI', Roboto, Arial, sans-serif") / 100;

function fitToPaper(table) {
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
