// Leaderboards learn to be sorted, and signatures to be copied; without this script they can be read.

function valueOf(row, column) {
  const cell = row.cells[column];
  const text = cell?.dataset.value ?? cell?.textContent.trim() ?? "";
  return text === "" ? null : Number.isNaN(Number(text)) ? text : Number(text);
}

function compare(a, b) {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return typeof a === "string" || typeof b === "string" ? String(a).localeCompare(String(b)) : a - b;
}

/** @param {HTMLTableElement} table */
function makeSortable(table) {
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  const body = table.tBodies[0];
  const begin = [...body.rows];
  const edges = new Set(begin.filter((row) => row.classList.contains("edge")));
  const primary = heads.findIndex((head) => head.hasAttribute("aria-sort"));

  function sort(column, falling) {
    heads.forEach((head, k) => {
      if (k === column) head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    const best = begin.length && falling === firstFalling(primary);
    const rows = column === primary && best ? begin : [...begin].sort((a, b) => {
      const one = valueOf(a, column), other = valueOf(b, column);
      if (one === null || other === null) return compare(one, other); // those without come last
      return falling ? compare(other, one) : compare(one, other);
    });
    // The lines between clusters mean something in the order of the board alone.
    rows.forEach((row) => row.classList.toggle("edge", rows === begin && edges.has(row)));
    body.append(...rows);
  }

  const start = heads[primary]?.getAttribute("aria-sort");
  function firstFalling(column) {
    if (column === primary) return start === "descending";
    return column > 2 && !heads[column].textContent.includes("↓");
  }

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      sort(column, now ? now !== "descending" : firstFalling(column));
    });
    head.append(button);
  });
}

/** @param {HTMLElement} text */
function makeCopyable(text) {
  if (!navigator.clipboard) return;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = "Copied";
  });
  text.before(button);
}

document.querySelectorAll("table.board").forEach(makeSortable);
document.querySelectorAll("[data-copy]").forEach(makeCopyable);
