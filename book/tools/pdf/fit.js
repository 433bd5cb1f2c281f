// What is wider than the column is drawn smaller, for paper does not scroll; then all is waited for.
async () => {
  const wide = "mjx-container[display='true'], .attnbook-scroll, .pst-scrollable-table-container, .attnbook-live";
  for (const box of document.querySelectorAll(wide)) {
    const share = box.clientWidth / box.scrollWidth;
    if (box.clientWidth && share < 1) for (const child of box.children) child.style.zoom = share;
  }
  await document.fonts.ready;
  await Promise.all([...document.images].map((image) => image.decode()));
}
