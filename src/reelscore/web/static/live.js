// Parts of a page that renew themselves, and buttons that ask first.

for (const part of document.querySelectorAll("[data-refresh]")) {
  const renew = async () => {
    // what somebody is just filling in stays
    if (!document.hidden && !part.querySelector("details[open], form:focus-within")) {
      try {
        const response = await fetch(part.dataset.refresh, { headers: { accept: "text/html" } });
        if (response.ok) part.innerHTML = await response.text(); // our own page, escaped there
      } catch { /* the next time */ }
    }
    setTimeout(renew, Number(part.dataset.every) * 1000);
  };
  setTimeout(renew, Number(part.dataset.every) * 1000);
}

document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});
