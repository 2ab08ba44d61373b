// Parts of a page that renew themselves, questions before something final, and buttons that copy.

/** @type {NodeListOf<HTMLElement>} */
const renewed = document.querySelectorAll("[data-refresh]");
for (const part of renewed) {
  const renew = async () => {
    // what somebody reads or uses just now stays
    if (!document.hidden && !part.querySelector("details[open], :focus")) {
      try {
        const response = await fetch(part.dataset.refresh, { headers: { accept: "text/html" } });
        if (response.ok) part.innerHTML = await response.text(); // our own page, escaped there
        /** @type {HTMLElement} */
        const inner = part.querySelector("[data-every]"); // it may say when to ask again
        if (inner) part.dataset.every = inner.dataset.every;
      } catch { /* the next time */ }
    }
    setTimeout(renew, Number(part.dataset.every) * 1000);
  };
  setTimeout(renew, Number(part.dataset.every) * 1000);
}

document.addEventListener("submit", (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  const question = form.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});

const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("decide"));

document.addEventListener("click", async (event) => {
  const button = /** @type {Element} */ (event.target).closest("button");
  if (!button) return;
  const { decide, close, copy, copyFrom } = button.dataset;
  if (decide !== undefined) {
    const form = dialog.querySelector("form");
    form.reset();
    /** @type {HTMLInputElement} */ (form.elements.namedItem("rater")).value = decide;
    dialog.querySelector("[data-name]").textContent = decide;
    dialog.showModal();
    button.blur(); // or the table would wait for it
  } else if (close !== undefined) {
    dialog.close();
  } else if (copy !== undefined || copyFrom !== undefined) {
    await toClipboard(copy ?? document.getElementById(copyFrom).textContent);
    button.textContent = "Copied";
  }
});

async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // over plain http scripts have no clipboard
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
