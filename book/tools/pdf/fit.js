// What is wider than the column, or too high for a page, is drawn smaller, for paper does not scroll;
// what is long may be cut between its lines. Then all is waited for.
async ({ long, high }) => {
  const all = (selector) => document.querySelectorAll(`article :is(${selector})`);
  const wide = "div.math, .attnbook-scroll, .pst-scrollable-table-container, .attnbook-live";
  // what has just been unfolded is drawn within a frame; within a wide box the widest part goes first
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  await document.fonts.ready;
  merge(all("pre span:not([id])"));
  for (const box of [...all(wide)].reverse()) {
    const share = box.clientWidth / box.scrollWidth;
    if (box.clientWidth && share < 1) for (const child of box.children) child.style.zoom = share;
  }
  await Promise.all([...document.images].map((image) => image.decode()));
  for (const drawn of all("svg, img, canvas")) {
    const { height } = drawn.getBoundingClientRect();
    if (height > high) drawn.style.zoom = high / height;
  }
  for (const box of all(".cell_input, .cell_output, figure.attnbook"))
    box.classList.toggle("is-long", box.getBoundingClientRect().height > long);

  /** Make one span of neighbours that look alike: each is a tag in the file, the half of its size. */
  function merge(spans) {
    const look = (node) => ["color", "fontWeight", "fontStyle"].map((one) => getComputedStyle(node)[one]).join();
    const looks = new Map([...spans].map((span) => [span, look(span)]));
    for (const span of spans) {
      const gap = span.previousSibling?.nodeType === Node.TEXT_NODE && !span.previousSibling.data.trim() && span.previousSibling;
      const before = (gap || span).previousSibling;
      if (!looks.has(before) || looks.get(before) !== looks.get(span)) continue;
      before.append(...(gap ? [gap] : []), ...span.childNodes);
      before.normalize();
      span.remove();
    }
  }
}
