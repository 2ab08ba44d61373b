// The dialog in which a person says which words are names.

const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("names"));
const words = document.getElementById("words-to-name");
const other = /** @type {HTMLInputElement} */ (document.getElementById("other"));

/** @type {(word: string, isName: boolean) => Promise<void>} */
let decide;

export function prepare(callback) {
  decide = callback;
  document.getElementById("other-name").addEventListener("submit", (event) => {
    event.preventDefault();
    if (other.value.trim()) decide(other.value, true);
    other.value = "";
  });
}

/** List the words of a passage that have a capital, and what is said of them so far. */
export function show(passage, names) {
  const capital = [...new Set(passage.text.match(/\p{Lu}[\p{L}'’-]+/gu) ?? [])]
    .map((word) => word.replace(/['’]s$/u, ""));
  words.replaceChildren(...[...new Set(capital)].map((word) => entry(word, names)));
  if (!capital.length) words.textContent = "The passage has no words with a capital.";
  if (!dialog.open) dialog.showModal();
}

export const isShown = () => dialog.open;

function entry(word, names) {
  const item = document.createElement("li");
  const label = document.createElement("span");
  label.textContent = word;
  const lower = word.toLowerCase();
  const isNone = names["no-name"].includes(lower);
  const isName = !isNone && names.name.some((name) => name.split(/\s+/).includes(lower));
  item.append(label, choice(word, "name", true, isName), choice(word, "no name", false, isNone));
  return item;
}

function choice(word, text, isName, isPressed) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  button.setAttribute("aria-label", `${word}: ${text}`);
  button.setAttribute("aria-pressed", String(isPressed));
  button.addEventListener("click", () => decide(word, isName));
  return button;
}
