// A long list of links is one stop of the Tab key, at the page that is open or the first link; the
// arrow keys go through it.
(() => {
  const LISTS = ".bd-sidebar-primary .bd-links, .bd-sidebar-secondary .page-toc";
  const MOVES = {
    ArrowUp: (at) => at - 1,
    ArrowDown: (at) => at + 1,
    Home: () => 0,
    End: (_, last) => last,
  };
  for (const list of document.querySelectorAll(LISTS)) {
    const links = () => [...list.querySelectorAll("a")];
    const shown = () => links().filter((link) => link.checkVisibility({ visibilityProperty: true }));
    const stop = (link) => {
      for (const one of links()) one.tabIndex = one === link ? 0 : -1;
    };
    const settle = () => {
      const among = shown();
      const now = links().find((link) => link.tabIndex === 0 && link.matches("a[tabindex]"));
      if (among.length && !among.includes(now)) stop(among.find((link) => link.matches(".current")) ?? among[0]);
    };
    stop(links().find((link) => link.matches(".current")) ?? links()[0]);
    settle();
    list.addEventListener("focusin", ({ target }) => target.matches("a") && stop(target));
    list.addEventListener("toggle", settle, true); // the stop may have been folded up
    list.addEventListener("keydown", (event) => {
      const { key, target } = event;
      if (!MOVES[key] || event.altKey || event.ctrlKey || event.metaKey || !target.matches("a")) return;
      const among = shown();
      const to = MOVES[key](among.indexOf(target), among.length - 1);
      event.preventDefault();
      among[Math.max(0, Math.min(to, among.length - 1))].focus();
    });
  }
})();
