// Leaderboards learn to be sorted, searched and paged, and to show on a phone what fits there;
// signatures to be copied. Without this script they can be read.

const PAGE = 50; // rows of a page
const FEW = 10; // rows that need no search

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
    turn(0);
  }

  const turn = makePaged(table, body);
  makeCompact(heads, primary, [...table.tBodies].flatMap((part) => [...part.rows]));
  table.classList.add("compact");

  const start = heads[primary]?.getAttribute("aria-sort");
  function firstFalling(column) {
    if (column === primary) return start === "descending";
    return heads[column].dataset.first !== "ascending";
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

/**
 * Show a page of rows, of those that have what is searched for.
 * @param {HTMLTableElement} table
 * @param {HTMLTableSectionElement} body
 * @returns {(by: number) => void} turns pages: back, forth, or to the first with 0
 */
function makePaged(table, body) {
  const all = body.rows.length;
  if (all <= FEW) return () => {};
  const tools = document.createElement("div");
  tools.className = "board-tools";
  const label = document.createElement("label");
  const search = document.createElement("input");
  search.type = "search";
  label.append("Search ", search);
  const said = document.createElement("span");
  said.setAttribute("role", "status");
  const buttons = ["Previous", "Next"].map((words, k) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.addEventListener("click", () => turn(k ? 1 : -1));
    return button;
  });
  tools.append(label, said, ...(all > PAGE ? buttons : []));
  (table.parentElement ?? table).before(tools);
  let page = 0;

  function turn(by) {
    const words = search.value.trim().toLowerCase();
    const rows = [...body.rows];
    const found = rows.filter((row) => !words || row.textContent.toLowerCase().includes(words));
    const last = Math.max(0, Math.ceil(found.length / PAGE) - 1);
    page = by ? Math.min(last, Math.max(0, page + by)) : 0;
    const shown = new Set(found.slice(page * PAGE, (page + 1) * PAGE));
    rows.forEach((row) => { row.hidden = !shown.has(row); });
    const first = shown.size ? page * PAGE + 1 : 0;
    said.textContent = `${first}–${first ? first + shown.size - 1 : 0} of ${found.length}`;
    buttons[0].disabled = page === 0;
    buttons[1].disabled = page === last;
  }
  search.addEventListener("input", () => turn(0));
  turn(0);
  return turn;
}

/** Mark what a phone shows of a board: rank, team and the score that orders it; the rest on tap. */
function makeCompact(heads, primary, rows) {
  const always = ["rank", "team"];
  const keys = heads.map((head, k) => k === primary || always.includes(head.dataset.column));
  heads.forEach((head, k) => head.classList.toggle("key", keys[k]));
  rows.filter((row) => row.cells.length === heads.length).forEach((row) => {
    [...row.cells].forEach((cell, k) => {
      cell.classList.toggle("key", keys[k]);
      cell.dataset.label = heads[k].textContent;
    });
    const team = row.querySelector("th");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "more";
    button.textContent = "…";
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-label", `All scores of ${team?.querySelector("bdi")?.textContent}`);
    button.addEventListener("click", () => {
      button.setAttribute("aria-expanded", String(row.classList.toggle("open")));
    });
    team?.append(button);
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
