// A formula that is copied comes as the TeX that it was written in, between dollars.
addEventListener("copy", (event) => {
  const chosen = getSelection();
  if (!chosen.rangeCount || event.target.closest?.("input, textarea")) return;
  const part = chosen.getRangeAt(0).cloneContents();
  const whole = chosen.getRangeAt(0).commonAncestorContainer;
  const inside = (whole.closest ? whole : whole.parentElement)?.closest(".math");
  if (inside) part.replaceChildren(inside.cloneNode(true)); // of a formula no half can be read
  const formulas = part.querySelectorAll(".math");
  if (!formulas.length) return;
  for (const one of formulas) {
    const tex = one.querySelector("annotation")?.textContent ?? one.textContent;
    one.textContent = one.matches("div") ? `$$${tex}$$` : `$${tex}$`;
  }
  const box = document.createElement("div");
  box.style.cssText = "position: absolute; left: -9999px; white-space: pre-wrap";
  box.append(part);
  document.body.append(box); // only what stands in the page has lines
  event.clipboardData.setData("text/plain", box.innerText.trim());
  event.clipboardData.setData("text/html", box.innerHTML);
  box.remove();
  event.preventDefault();
});
