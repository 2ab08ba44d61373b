// One item: what each system says, the references, and what lies behind the scores.

/** @import { PageData } from "./data.js" */
import { metricOptions } from "./data.js";
import { alignmentOf, drawAlignment, kindsKey } from "./alignment.js";
import { bdi, element, marked } from "./elements.js";
import { filmstrip } from "./gallery.js";
import { drawNgrams, ngramsOf } from "./ngrams.js";
import { areBest, formatOf } from "./numbers.js";
import { drawSentences, markedSentences, sentencesOf } from "./sentences.js";
import { drawStory } from "./stories.js";
import { drawTuples, tuplesOf } from "./tuples.js";

export class ItemDetail {
  /** @param {PageData} report */
  constructor(report, { step, chosen, back }) {
    this.report = report;
    this.step = step;
    this.chosenSystem = chosen;
    this.back = back;
    this.node = element("div", { class: "detail", tabindex: 0, role: "region", "aria-label": "Item" });
  }

  show(item, system, query, position) {
    this.shown = { item, system, query, position };
    const { report } = this, name = report.items[item];
    const title = element("h3", {}, bdi(name));
    const copy = element("button", { type: "button", onclick: () => this.copy(copy) }, "Copy link");
    const buttons = element("div", {},
      this.back ? element("button", { type: "button", onclick: () => this.back() }, "Gallery") : null,
      element("button", { type: "button", "aria-label": "Previous item", onclick: () => this.step(-1) }, "←"),
      element("button", { type: "button", "aria-label": "Next item", onclick: () => this.step(1) }, "→"), copy);
    this.node.replaceChildren(element("div", { class: "bar" }, title, buttons));
    this.node.append(element("p", { class: "dim" }, position));
    const video = videoOf(report, item);
    if (video) this.node.append(video);
    const strip = filmstrip(report, item);
    if (strip) this.node.append(strip);
    this.node.append(this.table(item, system, query));
    if (report.captions) {
      this.node.append(...this.sentences(item, system), ...this.references(item, system, query), ...this.reasons(item, system));
    }
    if (report.stories) {
      this.node.append(element("h3", {}, "Timeline of ", bdi(report.systems[system])),
        drawStory(report, item, system, this.width(), query));
    }
    this.node.scrollTop = 0;
  }

  width() {
    return Math.max(280, (this.node.clientWidth || 700) - 16);
  }

  redraw() {
    const { item, system, query, position } = this.shown ?? {};
    if (item !== undefined) this.show(item, system, query, position);
  }

  copy(button) {
    const say = (text) => {
      button.textContent = text;
      setTimeout(() => { button.textContent = "Copy link"; }, 2000);
    };
    const copied = navigator.clipboard?.writeText(location.href) ?? Promise.reject();
    copied.then(() => say("Copied"), () => say("It is in the address bar"));
  }

  table(item, system, query) {
    const { report } = this;
    const caption = report.captions ? (k) => report.column("texts")[report.textOffsets[item] + k] : null;
    const columns = report.metrics.map((_, m) => report.systems.map((_, k) => report.score(m, k, item)));
    const best = report.metrics.map((metric, m) => areBest(metric, columns[m], report.bounds));
    const formats = columns.map(formatOf), sentences = sentencesOf(report, item, system);
    const words = (k) => k === system && sentences
      ? markedSentences(caption(k), query, sentences.told, sentences.borneOut) : marked(caption(k) || "–", query);
    const groups = report.systems.map((name, k) => {
      const button = element("button", { type: "button", "aria-pressed": String(k === system) }, bdi(name));
      const scores = report.metrics.map((metric, m) => {
        const score = columns[m][k];
        return element("td", { "data-name": metric.name, class: best[m][k] ? "best" : null }, formats[m](score));
      });
      const head = element("th", { scope: "rowgroup", rowspan: caption && scores.length ? 2 : null }, button);
      const text = caption && element("td", { class: "text", colspan: report.metrics.length || 1 },
        element("bdi", { dir: "auto" }, words(k)));
      return element("tbody", { class: k === system ? "chosen" : null, onclick: () => this.chosenSystem(k) },
        caption ? [element("tr", {}, head, text), scores.length ? element("tr", {}, scores) : null] : element("tr", {}, head, scores));
    });
    const heads = report.metrics.length ? metricOptions(report).map(([, name]) => element("th", { scope: "col" }, name))
      : [element("th", { scope: "col", class: "text" }, "caption")];
    return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Captions and scores" },
      element("table", { class: "captions" },
        element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "system"), heads)), groups));
  }

  references(item, system, query) {
    const { report } = this;
    const first = report.textOffsets[item] + report.systems.length;
    const texts = report.column("texts").slice(first, report.textOffsets[item + 1]);
    if (!texts.length) return [];
    const best = alignmentOf(report, item, system)?.reference, sentences = sentencesOf(report, item, system);
    const words = (text, k) => sentences?.reference === k + 1
      ? markedSentences(text, query, sentences.asked, sentences.borneOut) : marked(text, query);
    return [element("h3", {}, texts.length === 1 ? "Reference" : `${texts.length} references`),
      element("ol", { class: "references" }, texts.map((text, k) =>
        element("li", { class: k === best ? "best" : null }, element("bdi", { dir: "auto" }, words(text, k)),
          k === best && texts.length > 1 ? element("span", { class: "dim" }, ` – ${report.explanations.alignments.score}’s best match`) : null)))];
  }

  sentences(item, system) {
    const { report } = this, sentences = sentencesOf(report, item, system);
    if (!sentences) return [];
    const { score } = report.explanations.sentences;
    const by = ` ${sentences.part} by ${sentences.part}`;
    return [element("h3", {}, `${score}: `, bdi(report.systems[system]), by), drawSentences(sentences)];
  }

  reasons(item, system) {
    const { report } = this, { explanations } = report, name = report.systems[system];
    const aligned = alignmentOf(report, item, system), ngrams = ngramsOf(report, item, system);
    const tuples = tuplesOf(report, item, system);
    return [
      aligned ? [element("h3", {}, `${explanations.alignments.score}: `, bdi(name), " beside reference ", String(aligned.reference + 1)),
                 kindsKey(report), drawAlignment(aligned, this.width())] : [],
      ngrams ? [element("h3", {}, `${explanations["n-grams"].score}: n-grams of `, bdi(name), " that count"), drawNgrams(ngrams)] : [],
      tuples ? [element("h3", {}, `${explanations.tuples.score}: what `, bdi(name), " and the references state"), drawTuples(tuples)] : [],
    ].flat();
  }
}

// A player for what is a video by its name, else a link.
/** @param {PageData} report */
function videoOf(report, item) {
  const id = report.ids?.[item] ?? report.items[item];
  const address = report.videos[item] ?? (report.video && report.video.replaceAll("{item}", encodeURIComponent(id)));
  // Browsers look through white space in a scheme: so does this.
  // eslint-disable-next-line no-control-regex
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec((address ?? "").replace(/[\s\u0000-\u001f]/g, ""));
  if (!address || (scheme && !/^(https?|file)$/i.test(scheme[1]))) return null;
  if (/\.(mp4|m4v|webm|ogv|ogg|mov|mkv)([?#]|$)/i.test(address)) {
    const preload = /^https?:/i.test(address) ? "none" : "metadata"; // nothing is loaded unasked
    return element("video", { controls: true, preload, src: address, "aria-label": `Video of ${report.items[item]}` });
  }
  return element("p", {}, element("a", { href: address, rel: "noreferrer noopener", target: "_blank" }, `Watch ${report.items[item]}`));
}
