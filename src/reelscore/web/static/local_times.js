// Times are in UTC; this writes the reader's own time beside them.

/** @param {ParentNode} place */
function addLocalTimes(place) {
  /** @type {NodeListOf<HTMLTimeElement>} */
  const times = place.querySelectorAll("time[data-local]");
  for (const time of times) {
    delete time.dataset.local;
    const moment = new Date(time.dateTime);
    if (moment.getTimezoneOffset() === 0) continue;
    const local = document.createElement("span");
    local.className = "local";
    const sameDay = moment.getDate() === moment.getUTCDate();
    const form = sameDay ? { timeStyle: "short" } : { dateStyle: "short", timeStyle: "short" };
    local.textContent = ` (${moment.toLocaleString(undefined, /** @type {Intl.DateTimeFormatOptions} */ (form))} here)`;
    time.append(local);
  }
}

addLocalTimes(document);
new MutationObserver(() => addLocalTimes(document)).observe(document.body, { childList: true, subtree: true });
