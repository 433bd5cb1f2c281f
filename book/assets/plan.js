// The plan beside a lecture fills as one reads, and says which section one is in; where there is no
// room for it, a line in the bar at the top says so, and opens it.
(() => {
  const plan = document.querySelector(".lecture-plan");
  if (!plan) return;
  const sections = [...plan.querySelectorAll("a")].map((link) => {
    const row = link.parentElement;
    const told = `${link.firstElementChild.textContent} ${link.childNodes[1].textContent.trim()}`;
    const minutes = Number(row.style.getPropertyValue("--minutes"));
    return { link, row, told, minutes, section: document.getElementById(link.hash.slice(1)), read: 0 };
  });
  const all = sections.reduce((sum, { minutes }) => sum + minutes, 0);
  const toggle = document.querySelector("button.secondary-toggle");
  const here = document.createElement("span");
  here.className = "plan-here";
  toggle?.append(here);

  let current = null;
  const show = () => {
    // what stands above a third of the window counts as read, and at the page's end everything
    const ended = scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
    const line = ended ? innerHeight : innerHeight / 3;
    const boxes = sections.map(({ section }) => section.getBoundingClientRect());
    sections.forEach((one, at) => {
      const { top, height } = boxes[at];
      const read = ended ? 1 : Math.min(1, Math.max(0, (line - top) / height));
      if (read !== one.read) one.row.style.setProperty("--read", read.toFixed(3));
      one.read = read;
    });
    const now = sections[boxes.findLastIndex(({ top }) => top < line)];
    if (now !== current) {
      current?.link.removeAttribute("aria-current");
      now?.link.setAttribute("aria-current", "location");
      current = now;
    }
    const past = Math.round(sections.reduce((sum, { minutes, read }) => sum + minutes * read, 0));
    here.textContent = now ? `${now.told} · ${past} of ${all} min` : plan.firstElementChild.textContent;
  };
  let asked = false;
  const soon = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      show();
    });
  };
  addEventListener("scroll", soon, { passive: true });
  addEventListener("resize", soon);
  addEventListener("load", soon);
  show();
})();
