// The list of pages stays where the reader left it, and is moved only where the present page's name
// would be out of sight; its parts have their colours.
(() => {
  const KEPT = "attnbook-pages-at";
  const nav = document.querySelector(".bd-docs-nav");
  const box = nav?.closest(".sidebar-primary-item");
  if (!box) return;

  for (const caption of nav.querySelectorAll(".caption")) {
    const place = ["I", "II", "III", "IV", "V"].indexOf(caption.textContent.trim().split(".")[0]);
    if (place >= 0) caption.dataset.part = place + 1;
  }

  /** Move the list by as little as brings the present page's name into it. */
  const show = () => {
    const here = [...nav.querySelectorAll("a.current, li.current > a")].pop();
    if (!here || !box.clientHeight) return;
    const [name, around] = [here.getBoundingClientRect(), box.getBoundingClientRect()];
    if (name.top >= around.top && name.bottom <= around.bottom) return;
    const first = here === nav.querySelector("a");
    box.scrollTop = first ? 0 : box.scrollTop + name.top - around.top - (box.clientHeight - name.height) / 2;
  };

  box.scrollTop = Number(sessionStorage.getItem(KEPT)) || 0;
  addEventListener("pagehide", () => sessionStorage.setItem(KEPT, String(box.scrollTop)));
  show();
  addEventListener("resize", show);
})();
