// The guess on the landing page: a word that is pressed is answered, and the picture shows why.
(() => {
  const asked = document.querySelector(".landing-guess");
  const said = asked?.querySelector(".landing-said");
  asked?.addEventListener("click", ({ target }) => {
    if (!target.matches("button")) return;
    for (const one of asked.querySelectorAll("button")) one.setAttribute("aria-pressed", one === target);
    said.textContent = `${target.dataset.said} Your turn: change any number.`;
    const query = document.querySelector("figure.attnbook-steps select");
    if (!query) return;
    query.selectedIndex = Number(asked.dataset.query);
    query.dispatchEvent(new Event("change", { bubbles: true }));
  });
})();
