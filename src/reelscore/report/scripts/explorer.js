// The explorer: search, filter, sort, look.

/** @import { PageData } from "./data.js" */
import { metricOptions, twoMetrics } from "./data.js";
import { ItemDetail } from "./detail.js";
import { Gallery } from "./gallery.js";
import { choice, element, field, section } from "./elements.js";
import { ItemList } from "./list.js";
import { COUNT, formatOf } from "./numbers.js";
import { chosenItems, itemValues, ORDERS, TextIndex } from "./query.js";
import { storyOf } from "./stories.js";

const FEW = 10; // items whose list needs no scrolling

/** @param {PageData} report */
export function explorer(report, lengths) {
  const index = new TextIndex(report);
  const [metric, metric2] = twoMetrics(report);
  const state = {
    by: "order", metric, metric2, system: -1, system2: report.systems.length > 1 ? 1 : 0,
    view: report.previews && report.captions ? "gallery" : "list", falling: true, query: "", from: -Infinity, to: Infinity, item: null, shown: 0,
  };
  let values = new Float64Array(report.count);
  let format = formatOf(values);

  const say = element("p", { class: "key", role: "status" });
  const controls = element("div", { class: "controls" });
  const list = new ItemList(report, (item) => open(item));
  const detail = new ItemDetail(report, {
    step: (by) => list.move(by),
    chosen: (system) => { state.shown = system; open(state.item); },
    back: report.captions ? () => { look("gallery"); gallery.focus(state.item); } : null,
  });
  const gallery = report.captions ? new Gallery(report, (item) => { open(item); detail.node.focus(); }) : null;
  const both = element("div", { class: report.count > FEW ? "explorer" : "explorer few" }, list.node, detail.node);

  // Cards are made only while they are seen.
  const fillGallery = () => gallery?.show(state.view === "gallery" ? list.items : [], {
    metric: state.metric, query: state.query, value: state.by === "order" ? null : valueOf,
    system: state.by === "systems" ? -1 : state.system });

  // A gallery of many clips, or a list beside one.
  function look(view) {
    state.view = view;
    both.hidden = view !== "list";
    if (gallery) gallery.node.hidden = view === "list";
    fillGallery();
    tell();
    drawControls();
    if (view === "list") { list.render(); list.choose(state.item); }
  }

  function open(item, system, { quiet = false } = {}) {
    if (system !== undefined) state.shown = system;
    else if (state.system >= 0 && item !== state.item) state.shown = state.system;
    state.item = item;
    if (!quiet && state.view === "gallery") look("list");
    list.choose(item);
    detail.show(item, state.shown, state.query, position());
    if (!quiet) remember(item);
  }

  const position = () => list.place < 0 ? "not in the list"
    : `${COUNT.format(list.place + 1)} of ${COUNT.format(list.items.length)}`;

  function remember(item) {
    const hash = `#item=${encodeURIComponent(report.items[item])}`;
    try { history.replaceState(null, "", hash); } catch { location.hash = hash; }
  }

  function update() {
    values = itemValues(report, lengths, state);
    format = formatOf(values);
    const items = chosenItems(report, index, values, state);
    list.node.scrollTop = 0;
    list.show(items, describe);
    fillGallery();
    tell();
    if (state.item !== null) detail.show(state.item, state.shown, state.query, position());
  }

  function tell() {
    const scores = state.view === "gallery" && report.metrics.length ? `; scores: ${report.metrics[state.metric].name}` : "";
    say.textContent = `${COUNT.format(list.items.length)} of ${COUNT.format(report.count)} items${explained()}${scores}`;
  }

  function explained() {
    if (state.by === "scores") {
      return `, by how much higher ${report.metrics[state.metric].name} ranks the caption than ` +
        `${report.metrics[state.metric2].name} (1: best by the one, worst by the other)`;
    }
    if (state.by === "systems") {
      return `, by ${report.systems[Math.max(0, state.system)]} less ${report.systems[state.system2]}`;
    }
    return "";
  }

  function describe(item) {
    const texts = report.captions ? report.column("texts") : null;
    const first = report.textOffsets[item];
    const caption = texts ? texts[first + Math.max(0, state.system)] || "–"
      : report.stories ? storyOf(report, item).candidates(Math.max(0, state.system))[0]?.sentence ?? "–" : "";
    return [state.by === "order" ? "" : valueOf(item), caption];
  }

  const valueOf = (item) => state.by === "length" ? values[item].toFixed(1) : format(values[item]);

  function drawControls() {
    const needs = ORDERS[state.by].needs;
    const set = (name) => (value) => { state[name] = Number(value); update(); };
    const systems = report.systems.map((name, k) => [k, name]);
    const orders = Object.entries(ORDERS)
      .filter(([by, order]) => (by !== "length" || lengths) && (report.metrics.length || !order.needs.includes("metric")) && (report.systems.length > 1 || !["spread", "systems"].includes(by)) &&
        (report.metrics.length > 1 || by !== "scores"))
      .map(([by, { name }]) => [by, name]);
    const number = (label, name, none) => {
      const input = element("input", { type: "number", step: "any", value: Number.isFinite(state[name]) ? state[name] : null,
        oninput: () => { state[name] = input.value === "" ? none : Number(input.value); update(); } });
      return field(label, input);
    };
    const search = element("input", { type: "search", id: "search", value: state.query, placeholder: "id, caption or reference",
      oninput: () => { state.query = search.value.trim().toLowerCase(); later(); } });
    controls.replaceChildren(...[
      field("Search", search, "field wide"),
      gallery ? choice("View", [["gallery", "gallery"], ["list", "list and details"]], state.view, (view) => { look(view); controls.querySelectorAll("select")[0].focus(); }) : null,
      choice("Sort by", orders, state.by, (by) => { state.by = by; drawControls(); update(); controls.querySelectorAll("select")[gallery ? 1 : 0].focus(); }),
      needs.includes("metric") || (state.view === "gallery" && report.metrics.length) ? choice(needs.includes("metric2") ? "First score" : "Score", metricOptions(report), state.metric, set("metric")) : null,
      needs.includes("metric2") ? choice("Second score", metricOptions(report), state.metric2, set("metric2")) : null,
      needs.includes("system2") ? choice("First system", systems, Math.max(0, state.system), set("system"))
        : choice("System", [[-1, "all"], ...systems], state.system, set("system")),
      needs.includes("system2") ? choice("Second system", systems, state.system2, set("system2")) : null,
      state.by === "order" ? null : choice("First", [["1", "highest"], ["", "lowest"]], state.falling ? "1" : "", (v) => { state.falling = Boolean(v); update(); }),
      state.by === "order" ? null : number("From", "from", -Infinity),
      state.by === "order" ? null : number("To", "to", Infinity),
    ].filter(Boolean));
  }

  let timer;
  function later() {
    clearTimeout(timer);
    timer = setTimeout(update, report.count > 20_000 ? 250 : 60);
  }

  const node = section("items", "Items", controls, say,
    gallery?.node, both,
    element("p", { class: "key keys" }, "Keys, with the focus among the items: arrows, Page up and down, Home, End; / to search; j and k for the next and the previous item; g for the gallery."));

  node.addEventListener("keydown", (event) => {
    const { tagName } = /** @type {Element} */ (event.target);
    if (/^(INPUT|SELECT)$/.test(tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") { event.preventDefault(); document.getElementById("search").focus(); }
    const moving = state.view === "gallery" ? gallery : list;
    if (event.key === "j") moving.move(1);
    if (event.key === "k") moving.move(-1);
    if (event.key === "g" && gallery) { look("gallery"); gallery.focus(state.item); }
  });

  return {
    node, open, redraw: () => { list.render(); detail.redraw(); },
    start() {
      look(state.view);
      update();
    },
  };
}
